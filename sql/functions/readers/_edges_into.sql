create or replace function kl_internal.edges_into(p_state_id uuid, p_nodes text[])
returns table (config_address text, depends_on text)
language sql
stable
rows 1000
set search_path = pg_catalog, pg_temp
as $$
    -- Each list once, however many objects share it.
    select distinct
        u.config_address,
        n.node
    from (
        select
            m.id,
            array_agg(m.member) as nodes
        from (
            select
                d.id,
                unnest(d.config_addresses) as member
            from kl_internal.dependency_sets as d
            where d.state_id = p_state_id
        ) as m
        inner join unnest(p_nodes) as f (node) on f.node = m.member
        group by m.id
    ) as l
    cross join lateral (
        select distinct r.config_address
        from kl_internal.resources as r
        where r.state_id = p_state_id
            and r.dependency_set_id = l.id
            and r.closed_no is null
            and r.deposed = ''
    ) as u
    cross join lateral unnest(l.nodes) as n (node);
$$;

comment on function kl_internal.edges_into(uuid, text[]) is
'The stored dependencies on some configuration addresses.

Reads each distinct list of the state, and of the resources only those whose list names one.';
