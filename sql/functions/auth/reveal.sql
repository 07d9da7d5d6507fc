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
    v_state   kl_internal.states%rowtype;
    v_deposed text := coalesce(E'\x07' || nullif(p_deposed_key, ''), '');
    v_path    text;
    v_address text;
    v_value   jsonb;
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

    -- The name of an output is no address; a resource of a type "output": resource.output.NAME.
    select o.value, p_address
    into v_value, v_address
    from kl_internal.outputs as o
    where o.state_id = v_state.id
        and o.closed_no is null
        and 'output.' || o.name = p_address
        and v_deposed = '';

    if v_address is null then
        v_path := kl_internal.known_path(v_state.id, p_state, p_address);
        -- One object: without a key it is the instance without key.
        select kl_internal.projected(r.attributes, r.escaped), r.address
        into v_value, v_address
        from kl_internal.resources as r
        where r.state_id = v_state.id
            and r.closed_no is null
            and r.path in (v_path || v_deposed, v_path || E'\x02' || v_deposed);
    end if;

    if v_value is null then
        raise exception using
            errcode = 'KL203',
            message = format('state %s has no %s', to_json(p_state), left(p_address, 400)),
            detail = jsonb_build_object('state', p_state, 'address', left(p_address, 4000))::text;
    end if;

    perform kl_internal.record_event(v_state.id, v_state.name, 'reveal', jsonb_build_object(
        'address', v_address,
        'deposed_key', nullif(p_deposed_key, '')
    ));
    -- An event goes with its transaction; the server's log keeps what a rollback takes away.
    raise log '% (%) reveals % of state %',
        kl_internal.current_principal(),
        kl_internal.current_actor(),
        v_address,
        to_json(p_state);
    return v_value;
end;
$$;

comment on function kl.reveal(text, text, text) is
'The attributes of a resource object, or the value of output.NAME, unmasked. Every call is an event,
and a line in the database''s log even if its transaction rolls back.

The address may be spelt in any way that kl.known_path takes; without a key it is the instance
without key. The event and the line have it as it is stored.
For members of kl_secrets and installation admins.
Locks: none. Raises: KL001, KL101, KL102, KL201, KL203. Callers: analysts with kl_secrets.';
