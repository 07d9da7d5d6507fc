create or replace function kl.force_unlock(p_name text, p_lock_id text)
returns table (lock_id text, operation text, who text, acquired_at timestamptz)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_state kl_internal.states%rowtype;
    v_held  kl_internal.state_locks%rowtype;
begin
    perform kl_internal.authorize('state:write');
    v_state := kl_internal.lock_found_state(p_name);

    if v_state.id is null then
        raise exception using
            errcode = 'KL201',
            message = format('there is no state %s', to_json(p_name)),
            detail = jsonb_build_object('state', p_name)::text;
    end if;

    v_held := kl_internal.terraform_lock(v_state.id);
    if v_held.id is null then
        perform kl_internal.refuse_native_unlock(v_state.id, p_lock_id);
        return;
    end if;

    if p_lock_id <> v_held.lock_id then
        raise exception using
            errcode = 'KL304',
            message = format(
                'lock %s is not the one that is held: %s holds %s',
                to_json(p_lock_id), coalesce(v_held.who, 'somebody'), v_held.lock_id
            ),
            detail = jsonb_build_object('lock', kl_internal.lock_answer(v_held))::text;
    end if;

    perform kl_internal.free_lock(v_state, v_held, true);
    return query select v_held.lock_id, v_held.operation, v_held.who, v_held.acquired_at;
end;
$$;

comment on function kl.force_unlock(text, text) is
'Free the Terraform-visible lock of a state, whoever holds it; the row is the lock that was freed.

p_lock_id: free it only if this ID holds it; null for whatever is held. No row when none was held.
A native lock ends with its run, and is never freed.
Locks: state row. Raises: KL001, KL102, KL201, KL303 (only native writers hold it), KL304.
Callers: server, CLI.';
