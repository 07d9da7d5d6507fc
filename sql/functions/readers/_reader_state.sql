create or replace function kl_internal.reader_state(p_state text)
returns kl_internal.states
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state kl_internal.states%rowtype;
begin
    if (kl_internal.caller_grant()).scopes && array['analyst'] then
        v_state := kl_internal.find_state(p_state);
    else
        v_state := kl_internal.require_state(p_state, 'state:read');
    end if;

    if v_state.current_version_no is null or v_state.current_version_no = 0 then
        raise exception using
            errcode = 'KL201',
            message = format('there is no state %s', to_json(p_state)),
            detail = jsonb_build_object('state', p_state)::text;
    end if;

    return v_state;
end;
$$;

comment on function kl_internal.reader_state(text) is
'The state of that name, for whoever may read it: analysts, and callers with state:read.

Raises: KL001, KL101, KL102, KL201.';
