create or replace function kl_internal.scope_blocks(
    p_items     kl_internal.scope_item[],
    p_nodes     text[],
    out configs text[],
    out paths   text[]
)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    select coalesce(array_agg(b.node), '{}'), coalesce(array_agg(b.path), '{}')
    into configs, paths
    from (
        select n.node, i.path
        from unnest(p_nodes) as n (node)
        inner join unnest(p_items) as i on i.config_address = n.node
        where i.role <> 'removed'
            and not i.is_module
        union
        select n.node, i.path
        from (
            select m.config_address, m.path
            from unnest(p_items) as m
            where m.is_module
            offset 0
        ) as i
        inner join unnest(p_nodes) as n (node) on starts_with(n.node, i.config_address || '.')
    ) as b;
end;
$$;

comment on function kl_internal.scope_blocks(kl_internal.scope_item[], text[]) is
'The blocks of the client''s configuration that items name, and the path where each is or will be.';
