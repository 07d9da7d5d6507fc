create or replace function kl.release_native_lock(p_name text, p_apply_id uuid, p_lock_id text)
returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state kl_internal.states%rowtype;
    v_run   kl_internal.apply_runs%rowtype;
    v_id    uuid;
begin
    perform kl_internal.authorize('state:write');
    if num_nonnulls(p_apply_id, p_lock_id) = 0 then
        raise exception using
            errcode = 'KL001',
            message = 'name the lock by apply_id or by lock_id',
            detail = jsonb_build_object('pointer', '/apply_id')::text;
    end if;

    if p_name is not null then
        v_state := kl_internal.require_state(p_name, 'state:write');
    end if;

    select l.apply_id
    into v_id
    from kl_internal.state_locks as l
    where l.kind = 'native'
        and (v_state.id is null or l.state_id = v_state.id)
        and (p_apply_id is null or l.apply_id = p_apply_id)
        and (p_lock_id is null or l.lock_id = p_lock_id);

    if v_id is null then
        return null;
    end if;

    v_run := kl_internal.own_apply_run(v_id, 'state:write');
    perform kl_internal.lock_state_row(v_run.state_id);
    return kl_internal.free_native_lock(v_run);
end;
$$;

comment on function kl.release_native_lock(text, uuid, text) is
'End the lock that plain Terraform sees of an apply run; its ID, null when it was not held.

By apply run or by lock ID; both name the same one. p_name may be null. Reservations stay.
Locks: state row. Raises: KL001, KL101, KL102, KL201, KL204. Callers: server, CLI.';
