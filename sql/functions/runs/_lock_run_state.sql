create or replace function kl_internal.lock_run_state(p_name text, p_apply_id uuid)
returns kl_internal.states
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state kl_internal.states%rowtype := kl_internal.require_state(p_name, 'state:write');
    v_run   kl_internal.apply_runs%rowtype;
begin
    v_run := kl_internal.find_apply_run(p_apply_id, 'state:write');
    if v_run.state_id <> v_state.id then
        raise exception using
            errcode = 'KL001',
            message = format('apply run %s is one of another state', p_apply_id),
            detail = jsonb_build_object(
                'pointer', '/apply_id', 'apply_id', p_apply_id, 'state', p_name
            )::text;
    end if;

    return kl_internal.lock_known_state(v_run.state_id, p_name);
end;
$$;

comment on function kl_internal.lock_run_state(text, uuid) is
'The state of that name under its row lock, for a request of one of its apply runs.

Locks: state row. Raises: KL001 (a run of another state), KL101, KL102, KL201, KL204.';
