-- requires: readers/known_path
-- requires: readers/resource_changes.view
-- requires: readers/state_id
-- requires: states/resource_history.view
create or replace function kl.resource_timeline(p_state text, p_address text)
returns table (
    address            text,
    deposed_key        text,
    status             text,
    create_version_no  bigint,
    create_serial      numeric,
    created_at         timestamptz,
    source             text,
    actor              text,
    run_id             uuid,
    delete_version_no  bigint,
    deleted_at         timestamptz,
    delete_source      text,
    delete_actor       text,
    changed_parts      text[],
    changes            jsonb,
    tainted            boolean,
    attributes         jsonb,
    path               text
)
language sql
stable
as $$
    -- A place is a row, not a scalar subquery: PostgreSQL does not evaluate one of those again for
    -- the arms of a union when this function stands behind a lateral join.
    with place as materialized (
        select
            kl.state_id(p_state) as state_id,
            kl.known_path(p_state, p_address) as low,
            kl.known_path(p_state, p_address) || E'\x08' as high
    ),
    entries as (
        select e.*
        from place as p
        cross join lateral (
            select h.*
            from kl.resource_history as h
            where h.state_id = p.state_id
                and h.path >= p.low
                and h.path < p.high
                and h.delete_version_no is null
            union all
            select h.*
            from kl.resource_history as h
            where h.state_id = p.state_id
                and h.path >= p.low
                and h.path < p.high
                and h.delete_version_no is not null
        ) as e
    ),
    changes as materialized (
        select d.*
        from place as p
        cross join lateral (
            select c.*
            from kl.resource_changes as c
            where c.state_id = p.state_id
                and c.path >= p.low
                and c.path < p.high
                and c.old_delete_version_no = c.new_create_version_no
            offset 0  -- so that the conditions go down into the view
        ) as d
    ),
    ordered as (
        select
            e.*,
            lag(e.delete_version_no) over in_time as previous_end,
            lead(e.create_version_no) over in_time as next_start
        from entries as e
        window in_time as (partition by e.path order by e.create_version_no)
    )
    select
        o.address,
        o.deposed_key,
        case
            when o.delete_version_no is null
                and (
                    o.previous_end < o.create_version_no
                    or (o.create_source = 'rollback' and o.previous_end is not null)
                ) then 'restored'
            when o.delete_version_no is null then 'current'
            when o.next_start = o.delete_version_no then 'superseded'
            else 'removed'
        end,
        o.create_version_no,
        o.create_serial,
        o.created_at,
        o.create_source,
        o.create_actor,
        o.create_run_id,
        o.delete_version_no,
        o.deleted_at,
        o.delete_source,
        o.delete_actor,
        c.changed_parts,
        c.changes,
        o.tainted,
        o.attributes,
        o.path
    from ordered as o
    left join changes as c
        on c.path = o.path
        and c.new_create_version_no = o.create_version_no;
$$;

comment on function kl.resource_timeline(text, text) is
'Every content that the objects at an address ever had; without a key, those of all instances.

status: current; restored (current, and back after it was gone or by a rollback); superseded
(another content took its place); removed (nothing did). changes: against the content before, as in
kl.resource_changes; null where there was none. Deposed objects stand apart by deposed_key.
Raises: KL001, KL102, KL201, KL203. Callers: analysts, server, CLI.';
