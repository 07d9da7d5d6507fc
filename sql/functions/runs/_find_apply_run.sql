create or replace function kl_internal.find_apply_run(p_apply_id uuid, p_scope text)
returns kl_internal.apply_runs
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run kl_internal.apply_runs%rowtype;
begin
    perform kl_internal.authorize(p_scope);

    select r.*
    into v_run
    from kl_internal.apply_runs as r
    where r.id = p_apply_id;

    if v_run.id is null then
        raise exception using
            errcode = 'KL204',
            message = format('there is no apply run %s', coalesce(p_apply_id::text, 'null')),
            detail = jsonb_build_object('apply_id', p_apply_id)::text;
    end if;

    perform kl_internal.authorize_state(p_scope, v_run.state_id);
    return v_run;
end;
$$;

comment on function kl_internal.find_apply_run(uuid, text) is
'An apply run, whoever began it, of a state for which the caller has that scope.

Raises: KL101, KL102, KL201, KL204.';
