create or replace function kl.unlock_state(p_name text, p_lock_info text)
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
    -- "terraform force-unlock" sends no body at all: whatever plain lock is held goes.
    if p_lock_info <> '' then
        v_info := kl_internal.read_lock_info(p_lock_info);
    end if;

    v_state := kl_internal.lock_found_state(p_name);
    v_held := kl_internal.terraform_lock(v_state.id);

    if v_held.id is null then
        if v_info is not null then
            perform kl_internal.refuse_native_unlock(v_state.id, v_info ->> 'ID');
        end if;
        return null;  -- a retry whose first answer was lost, or nothing to free
    end if;

    if v_info is not null and v_info ->> 'ID' <> v_held.lock_id then
        raise exception using
            errcode = 'KL304',
            message = format(
                'lock %s is not the one that is held: %s holds %s',
                v_info -> 'ID', coalesce(v_held.who, 'somebody'), v_held.lock_id
            ),
            detail = jsonb_build_object('lock', kl_internal.lock_answer(v_held))::text;
    end if;

    perform kl_internal.act_as(v_info ->> 'Who');
    perform kl_internal.free_lock(
        v_state, v_held, v_info is null or coalesce(v_info ->> 'Who', '') = ''
    );
    return v_held.lock_id;
end;
$$;

comment on function kl.unlock_state(text, text) is
'Free the Terraform-visible lock of a state; returns the ID that was freed, null when none was held.

p_lock_info: the holder''s LockInfo (JSON text); its ID must be the one that holds. Empty or null
frees whatever plain lock is held, never a native one, and is audited as forced.
Locks: state row. Raises: KL001, KL102, KL201 (no such environment), KL303 (the ID of a native
lock), KL304. Callers: server.';
