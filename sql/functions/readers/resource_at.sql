-- requires: readers/known_path, readers/state_id, readers/version_no, states/resource_history.view
create or replace function kl.resource_at(
    p_state   text,
    p_address text,
    p_version text default 'current'
)
returns table (
    address            text,
    deposed_key        text,
    type               text,
    provider           text,
    tainted            boolean,
    create_version_no  bigint,
    create_serial      numeric,
    created_at         timestamptz,
    create_actor       text,
    attributes         jsonb,
    path               text
)
language sql
stable
as $$
    -- A place is a row, not a scalar subquery: see kl.resource_timeline.
    with place as materialized (
        select
            kl.state_id(p_state) as state_id,
            kl.version_no(p_state, p_version) as version_no,
            kl.known_path(p_state, p_address) as low,
            kl.known_path(p_state, p_address) || E'\x08' as high
    )
    select
        e.address,
        e.deposed_key,
        e.type,
        e.provider,
        e.tainted,
        e.create_version_no,
        e.create_serial,
        e.created_at,
        e.create_actor,
        e.attributes,
        e.path
    from place as p
    cross join lateral (
        select h.*
        from kl.resource_history as h
        where h.state_id = p.state_id
            and h.path >= p.low
            and h.path < p.high
            and h.create_version_no <= p.version_no
            and h.delete_version_no is null
        union all
        select h.*
        from kl.resource_history as h
        where h.state_id = p.state_id
            and h.path >= p.low
            and h.path < p.high
            and h.create_version_no <= p.version_no
            and h.delete_version_no > p.version_no
    ) as e;
$$;

comment on function kl.resource_at(text, text, text) is
'The objects at an address as they were at a version; without a key, those of all its instances.

No row: the address was not there then. Sensitive values are masked.
Raises: KL001, KL101, KL102, KL201, KL202, KL203. Callers: analysts, server, CLI.';
