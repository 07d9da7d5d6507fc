create or replace function kl_internal.own_apply_run(p_apply_id uuid, p_scope text)
returns kl_internal.apply_runs
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run kl_internal.apply_runs%rowtype := kl_internal.find_apply_run(p_apply_id, p_scope);
begin
    if v_run.principal <> kl_internal.current_principal() then
        raise exception using
            errcode = 'KL102',
            message = format(
                'apply run %s belongs to %s', p_apply_id, coalesce(v_run.actor, 'somebody else')
            ),
            detail = jsonb_build_object('apply_id', p_apply_id)::text;
    end if;

    return v_run;
end;
$$;

comment on function kl_internal.own_apply_run(uuid, text) is
'An apply run that the caller began, of a state for which it has that scope.

Raises: KL101, KL102, KL201, KL204.';
