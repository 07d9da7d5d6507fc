create or replace function kl_internal.require_state(p_name text, p_scope text)
returns kl_internal.states
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_grant kl_internal.caller_grant := kl_internal.authorize(p_scope);
    v_state kl_internal.states%rowtype := kl_internal.find_state(p_name, v_grant);
begin
    if v_state.current_version_no is null or v_state.current_version_no = 0 then
        raise exception using
            errcode = 'KL201',
            message = format('there is no state %s', to_json(p_name)),
            detail = jsonb_build_object('state', p_name)::text;
    end if;

    return v_state;
end;
$$;

comment on function kl_internal.require_state(text, text) is
'The state of that name, for a caller with that scope.

Raises: KL001, KL102, KL201.';
