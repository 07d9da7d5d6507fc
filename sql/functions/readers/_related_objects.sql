create or replace function kl_internal.related_objects(
    p_state      text,
    p_address    text,
    p_dependents boolean
)
returns table (address text, config_address text, type text, depth integer, path text)
language plpgsql
stable
rows 100
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_origin record;
    v_from   text[];
    v_to     text[];
    v_self   integer;
begin
    v_origin := kl_internal.current_origin(p_state, p_address);

    select coalesce(array_agg(e.config_address), '{}'), coalesce(array_agg(e.depends_on), '{}')
    into v_from, v_to
    from kl_internal.dependency_edges(
        v_origin.state_id, v_origin.config_address, p_dependents
    ) as e;

    -- What stands before what, seen from the origin.
    if p_dependents then
        v_self := array_position(v_from, v_origin.config_address);
    else
        v_self := array_position(v_to, v_origin.config_address);
    end if;

    return query
    with ranked as (
        select n.node, n.depth
        from kl_internal.rank_nodes(
            v_origin.config_address,
            case when p_dependents then v_to else v_from end,
            case when p_dependents then v_from else v_to end
        ) as n
        union all
        -- In a ring, or where instances of one resource depend on each other.
        select v_origin.config_address, 1
        where v_self is not null
    )
    select
        r.address,
        n.node,
        r.type,
        n.depth,
        r.path
    from ranked as n
    left join lateral (
        select o.address, o.type, o.path
        from kl_internal.resources as o
        where o.state_id = v_origin.state_id
            and hashtextextended(o.config_address, 0) = hashtextextended(n.node, 0)
            and o.config_address = n.node
            and o.closed_no is null
            and o.deposed = ''
        offset 0  -- by the index, node for node
    ) as r on true
    where r.path is null
        or r.path < v_origin.path
        or r.path >= v_origin.path || E'\x08';
end;
$$;

comment on function kl_internal.related_objects(text, text, boolean) is
'What a resource needs, or with p_dependents what needs it, with its distance.

Raises: KL001, KL101, KL102, KL201, KL203.';
