create or replace function kl.reveal(
    p_state       text,
    p_address     text,
    p_deposed_key text default ''
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state kl_internal.states%rowtype;
    v_value jsonb;
begin
    if not pg_has_role(session_user, 'kl_secrets', 'member') then
        perform kl.require_admin();
    end if;
    v_state := kl_internal.find_state(p_state);
    if coalesce(v_state.current_version_no, 0) = 0 then
        raise exception using
            errcode = 'KL201',
            message = format('there is no state %s', to_json(p_state)),
            detail = jsonb_build_object('state', p_state)::text;
    end if;

    select kl_internal.projected(r.attributes, r.escaped)
    into v_value
    from kl_internal.resources as r
    where r.state_id = v_state.id
        and r.closed_no is null
        and r.address = p_address
        and r.deposed = p_deposed_key;

    if v_value is null then
        select o.value
        into v_value
        from kl_internal.outputs as o
        where o.state_id = v_state.id
            and o.closed_no is null
            and 'output.' || o.name = p_address;
    end if;

    if v_value is null then
        raise exception using
            errcode = 'KL203',
            message = format('state %s has no %s', to_json(p_state), p_address),
            detail = jsonb_build_object('state', p_state, 'address', p_address)::text;
    end if;

    perform kl_internal.record_event(v_state.id, v_state.name, 'reveal', jsonb_build_object(
        'address', p_address,
        'deposed_key', nullif(p_deposed_key, '')
    ));
    -- An event goes with its transaction; the server's log keeps what a rollback takes away.
    raise log '% (%) reveals % of state %',
        kl_internal.current_principal(),
        kl_internal.current_actor(),
        p_address,
        to_json(p_state);
    return v_value;
end;
$$;

comment on function kl.reveal(text, text, text) is
'The attributes of a resource object, or the value of output.NAME, unmasked. Every call is an event,
and a line in the database''s log even if its transaction rolls back.

For members of kl_secrets and installation admins.
Locks: none. Raises: KL001, KL101, KL102, KL201, KL203. Callers: analysts with kl_secrets.';
