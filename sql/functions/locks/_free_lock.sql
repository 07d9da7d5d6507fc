create or replace function kl_internal.free_lock(
    p_state  kl_internal.states,
    p_lock   kl_internal.state_locks,
    p_forced boolean
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    delete from kl_internal.state_locks as l
    where l.id = p_lock.id;

    perform kl_internal.record_event(
        p_state.id,
        p_state.name,
        case when p_forced then 'force_unlock' else 'unlock' end,
        jsonb_build_object(
            'lock_id', p_lock.lock_id,
            'operation', p_lock.operation,
            'who', p_lock.who,
            'forced', p_forced
        )
    );

    -- A placeholder that nothing was written to goes with its lock.
    delete from kl_internal.states as s
    where s.id = p_state.id
        and s.current_version_no = 0;
end;
$$;

comment on function kl_internal.free_lock(
    kl_internal.states,
    kl_internal.state_locks,
    boolean
) is
'Free one Terraform-visible lock, with its audit line. The caller holds the state row lock.';
