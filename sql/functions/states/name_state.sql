create or replace function kl.name_state(p_state_id uuid)
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_grant kl_internal.caller_grant := kl_internal.authorize('state:write');
    v_state kl_internal.states%rowtype;
begin
    select s.*
    into v_state
    from kl_internal.states as s
    where s.id = p_state_id
        and s.deleted_at is null
        and s.current_version_no > 0
        and (v_grant.environment_ids is null or s.environment_id = any (v_grant.environment_ids))
        and (v_grant.state_prefix is null or starts_with(s.name, v_grant.state_prefix));

    -- The same words whether it is out of reach or nowhere.
    if v_state.id is null then
        raise exception using
            errcode = 'KL201',
            message = format('there is no state with id %s', coalesce(p_state_id::text, 'null')),
            detail = jsonb_build_object('state_id', p_state_id)::text;
    end if;

    return kl_internal.canonical_name(v_state);
end;
$$;

comment on function kl.name_state(uuid) is
'The combined name, ws_…/env_…/NAME, of the state with that id, for who may write it.

Locks: none. Raises: KL101, KL102, KL201. Callers: server.';
