create or replace function kl_internal.current_origin(
    p_state            text,
    p_address          text,
    out state_id       uuid,
    out path           text,
    out config_address text
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    state_id := (kl_internal.reader_state(p_state)).id;
    path := kl.known_path(p_state, p_address);

    select r.config_address
    into config_address
    from kl_internal.resources as r
    where r.state_id = current_origin.state_id
        and r.path >= current_origin.path
        and r.path < current_origin.path || E'\x08'
        and r.closed_no is null
    order by r.path
    limit 1;

    if config_address is null then
        raise exception using
            errcode = 'KL203',
            message = format(
                'state %s has %s no more; see "kl resource history"',
                to_json(p_state),
                left(p_address, 400)
            ),
            detail = jsonb_build_object('state', p_state, 'address', left(p_address, 4000))::text;
    end if;
end;
$$;

comment on function kl_internal.current_origin(text, text) is
'The state, path and configuration address of a resource that is there now.

Raises: KL001, KL101, KL102, KL201, KL203.';
