create or replace function kl.lock_state(p_name text, p_lock_info text)
returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_info  jsonb;
    v_state kl_internal.states%rowtype;
    v_held  kl_internal.state_locks%rowtype;
begin
    perform kl_internal.authorize('state:write');
    v_info := kl_internal.read_lock_info(p_lock_info);
    v_state := kl_internal.lock_or_create_state(p_name, null);
    perform kl_internal.clear_dead_leases(v_state.id);

    select l.*
    into v_held
    from kl_internal.state_locks as l
    where l.state_id = v_state.id
    order by l.kind desc, l.acquired_at
    limit 1;

    if v_held.kind = 'terraform' and v_held.lock_id = v_info ->> 'ID' then
        return v_held.lock_id;  -- the answer to the first request was lost
    end if;

    if v_held.id is not null then
        perform kl_internal.raise_locked(v_held);
    end if;

    insert into kl_internal.state_locks (
        state_id, kind, lock_id, lock_info, operation, who, principal, acquired_at
    )
    values (
        v_state.id,
        'terraform',
        v_info ->> 'ID',
        p_lock_info,
        v_info ->> 'Operation',
        v_info ->> 'Who',
        kl_internal.current_principal(),
        kl_internal.clock()
    );

    perform kl_internal.act_as(v_info ->> 'Who');
    perform kl_internal.record_event(v_state.id, v_state.name, 'lock', jsonb_build_object(
        'lock_id', v_info ->> 'ID',
        'operation', v_info ->> 'Operation',
        'who', v_info ->> 'Who'
    ));
    return v_info ->> 'ID';
end;
$$;

comment on function kl.lock_state(text, text) is
'Take the Terraform-visible lock of a state with the client''s LockInfo (JSON text); returns its ID.

Taking it again with the ID that holds it succeeds. A state that does not exist yet gets an
invisible placeholder.
Locks: state row. Raises: KL001, KL102, KL201 (no such environment), KL303. Callers: server.';
