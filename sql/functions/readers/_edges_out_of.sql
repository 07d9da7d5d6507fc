create or replace function kl_internal.edges_out_of(p_state_id uuid, p_nodes text[])
returns table (config_address text, depends_on text)
language sql
stable
rows 1000
set search_path = pg_catalog, pg_temp
as $$
    select distinct
        l.node,
        m.member
    from (
        select distinct
            f.node,
            r.dependency_set_id
        from unnest(p_nodes) as f (node)
        inner join kl_internal.resources as r
            on r.state_id = p_state_id
            and hashtextextended(r.config_address, 0) = hashtextextended(f.node, 0)
            and r.config_address = f.node
            and r.closed_no is null
            and r.deposed = ''
            and r.dependency_set_id is not null
    ) as l
    inner join kl_internal.dependency_sets as d on d.id = l.dependency_set_id
    cross join lateral unnest(d.config_addresses) as m (member);
$$;

comment on function kl_internal.edges_out_of(uuid, text[]) is
'The stored dependencies of the resources with some configuration addresses.';
