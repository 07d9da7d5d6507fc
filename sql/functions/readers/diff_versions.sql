-- requires: readers/resource_changes.view
-- requires: readers/state_id
-- requires: readers/version_no
-- requires: states/resource_history.view
create or replace function kl.diff_versions(
    p_state text,
    p_from  text,
    p_to    text default 'current'
)
returns table (
    change         text,
    address        text,
    deposed_key    text,
    type           text,
    changed_parts  text[],
    changes        jsonb,
    path           text
)
language sql
stable
as $$
    with span as materialized (
        select
            kl.state_id(p_state) as state_id,
            least(kl.version_no(p_state, p_from), kl.version_no(p_state, p_to)) as low,
            greatest(kl.version_no(p_state, p_from), kl.version_no(p_state, p_to)) as high,
            kl.version_no(p_state, p_from) > kl.version_no(p_state, p_to) as backwards
    ),
    -- offset 0, here and below: so that the conditions go down into the views.
    opened as (
        select e.*
        from span as s
        cross join lateral (
            select h.*
            from kl.resource_history as h
            where h.state_id = s.state_id
                and h.create_version_no > s.low
                and h.create_version_no <= s.high
                and (h.delete_version_no is null or h.delete_version_no > s.high)
            offset 0
        ) as e
    ),
    closed as (
        select e.*
        from span as s
        cross join lateral (
            select h.*
            from kl.resource_history as h
            where h.state_id = s.state_id
                and h.delete_version_no > s.low
                and h.delete_version_no <= s.high
                and h.create_version_no <= s.low
            offset 0
        ) as e
    ),
    changed as materialized (
        select e.*
        from span as s
        cross join lateral (
            select c.*
            from kl.resource_changes as c
            where c.state_id = s.state_id
                and c.old_delete_version_no > s.low
                and c.old_delete_version_no <= s.high
                and c.old_create_version_no <= s.low
                and c.new_create_version_no > s.low
                and c.new_create_version_no <= s.high
                and (c.new_delete_version_no is null or c.new_delete_version_no > s.high)
            offset 0
        ) as e
    )
    select
        case
            when o.path is not null and c.path is not null then 'changed'
            when (c.path is null) <> s.backwards then 'added'
            else 'removed'
        end,
        coalesce(o.address, c.address),
        coalesce(o.deposed_key, c.deposed_key),
        coalesce(o.type, c.type),
        d.changed_parts,
        case
            when s.backwards then (
                select jsonb_agg(
                    jsonb_build_object('path', e.change -> 'path')
                        || case
                            when e.change ? 'new' then
                                jsonb_build_object('old', e.change -> 'new')
                            else '{}'
                        end
                        || case
                            when e.change ? 'old' then
                                jsonb_build_object('new', e.change -> 'old')
                            else '{}'
                        end
                    order by e.position
                )
                from jsonb_array_elements(d.changes) with ordinality as e (change, position)
            )
            else d.changes
        end,
        coalesce(o.path, c.path)
    from span as s
    cross join (opened as o full join closed as c on c.path = o.path)
    left join changed as d on d.path = c.path
    where d.changed_parts is distinct from '{}';
$$;

comment on function kl.diff_versions(text, text, text) is
'What differs between two versions of a state: one row per object that was added, removed, changed.

changes: [{"path", "old", "new"}] of the attributes that differ, sensitive values masked;
changed_parts: what else does. p_from may be the later version: then what it takes to go back.
p_from, p_to: as for kl.version_no. Costs what changed in between, not the size of the state.
Raises: KL001, KL102, KL201, KL202. Callers: analysts, server, CLI.';
