create or replace function kl_internal.authorize_state(p_scope text, p_state_id uuid)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_grant kl_internal.caller_grant := kl_internal.authorize(p_scope);
    v_state kl_internal.states%rowtype;
begin
    select s.*
    into v_state
    from kl_internal.states as s
    where s.id = p_state_id;

    if coalesce(v_state.current_version_no, 0) = 0 then
        raise exception using
            errcode = 'KL201',
            message = format('there is no state with id %s', p_state_id),
            detail = jsonb_build_object('state_id', p_state_id)::text;
    end if;

    perform kl_internal.authorize_place(v_state.environment_id, v_state.name, v_grant);
end;
$$;

comment on function kl_internal.authorize_state(text, uuid) is
'Check that the caller has a scope for the state with that id.

Raises: KL101, KL102, KL201.';
