create or replace function kl_internal.scope_nodes(p_context jsonb)
returns table (config_address text, depends_on text)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    if coalesce(jsonb_typeof(p_context -> 'config_nodes'), 'null') = 'null' then
        return;  -- the rest takes half a millisecond to find nothing
    end if;

    return query
    with nodes as materialized (
        select
            coalesce(
                kl_internal.json_member(n.value, 'address', 'string', n.pointer) #>> '{}', ''
            ) as address,
            kl_internal.json_texts(n.value -> 'dependencies', n.pointer || '/dependencies')
                as dependencies
        from kl_internal.json_objects(p_context -> 'config_nodes', '/client_context/config_nodes')
            as n
    ),
    edges as (
        select n.address, null as dependency
        from nodes as n
        union
        select n.address, d.dependency
        from nodes as n
        cross join lateral unnest(n.dependencies) as d (dependency)
    ),
    parsed as materialized (
        select a.address, kl_internal.config_address(a.address) as config_address
        from (
            select e.address
            from edges as e
            union
            select e.dependency
            from edges as e
            where e.dependency is not null
        ) as a
    )
    select distinct
        f.config_address,
        t.config_address
    from edges as e
    inner join parsed as f on f.address = e.address
    left join parsed as t on t.address = e.dependency;
exception
    when sqlstate 'KL001' then
        perform kl_internal.refuse_node_address(p_context);
        raise;
end;
$$;

comment on function kl_internal.scope_nodes(jsonb) is
'What the client says of its configuration: each node, once alone and once per dependency.

Keys are dropped: Terraform too makes a block depend on blocks, whichever instance is used.
Raises: KL001.';
