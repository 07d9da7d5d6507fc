create or replace function kl.delete_state(p_name text)
returns uuid
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state kl_internal.states%rowtype;
    v_held  kl_internal.state_locks%rowtype;
begin
    perform kl_internal.authorize('state:write');
    v_state := kl_internal.lock_found_state(p_name);
    perform kl_internal.clear_dead_leases(v_state.id);

    select l.*
    into v_held
    from kl_internal.state_locks as l
    where l.state_id = v_state.id
    order by l.kind desc, l.acquired_at
    limit 1;

    if v_held.id is not null then
        perform kl_internal.raise_locked(v_held);
    end if;

    perform kl_internal.require_state(p_name, 'state:write');
    update kl_internal.states as s
    set deleted_at = kl_internal.clock()
    where s.id = v_state.id;

    -- Who waits for a scope of it waits for nothing.
    perform pg_notify('kl_reservations', v_state.id::text);
    perform kl_internal.record_event(v_state.id, v_state.name, 'delete', jsonb_build_object(
        'version_no', v_state.current_version_no
    ));
    return v_state.id;
end;
$$;

comment on function kl.delete_state(text) is
'Delete a state: its name is free for a new one, its history is kept. Returns the state''s id.

Locks: state row. Raises: KL001, KL102, KL201, KL303 (locked by anybody). Callers: server, CLI.';
