create or replace function kl_internal.scope_absent(
    p_items   kl_internal.scope_item[],
    p_present integer[],
    p_written kl_internal.scope_object[],
    p_needs   kl_internal.scope_need[],
    p_nodes   text[]
)
returns setof kl_internal.scope_absence
language plpgsql
immutable
rows 100
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
    with items as materialized (
        select i.*
        from unnest(p_items) with ordinality
            as i (role, address, config_address, path, is_module, keyed, note, item_no)
    ),
    missing as materialized (
        select i.*
        from items as i
        left join unnest(p_present) as p (item_no) on p.item_no = i.item_no
        where i.role <> 'removed'
            and p.item_no is null
    ),
    modules as materialized (
        select i.*
        from items as i
        where i.is_module
    ),
    missing_modules as materialized (
        select m.*
        from missing as m
        where m.is_module
    ),
    explained as (
        -- What else the client said of the same block, or of blocks in the module.
        select a.item_no, o.role
        from missing as a
        inner join items as o on o.config_address = a.config_address
        where o.role in ('undeployed', 'removed')
            and not a.is_module
            and (starts_with(o.path, a.path) or starts_with(a.path, o.path))
        union all
        select a.item_no, 'undeployed'
        from missing as a
        inner join unnest(p_nodes) as n (node) on n.node = a.config_address
        where not a.is_module
        union all
        select a.item_no, o.role
        from missing_modules as a
        inner join items as o on starts_with(o.path, a.path)
        where o.role in ('undeployed', 'removed')
        union all
        select a.item_no, 'node'
        from missing_modules as a
        inner join unnest(p_nodes) as n (node) on starts_with(n.node, a.config_address || '.')
    ),
    asked as (
        select
            a.address,
            a.config_address,
            a.is_module,
            coalesce(array_agg(e.role) filter (where e.role is not null), '{}') as reasons
        from missing as a
        left join explained as e on e.item_no = a.item_no
        group by a.item_no, a.address, a.config_address, a.is_module
    ),
    blocks as (
        -- Blocks in the modules of the scope, and blocks it needs, that the state has nothing of.
        select n.node, true as planned, true as asked
        from modules as i
        inner join unnest(p_nodes) as n (node) on starts_with(n.node, i.config_address || '.')
        where n.node not in (select w.config_address from unnest(p_written) as w)
        union
        select d.config_address, d.config_address in (select unnest(p_nodes)), false
        from unnest(p_needs) as d
        where (d.object).id is null
            and d.config_address not in (
                select i.config_address
                from items as i
                where i.role = 'removed'
            )
    )
    select distinct
        a.address,
        a.config_address,
        'undeployed' = any (a.reasons),
        true
    from asked as a
    where a.reasons = '{}'
        or ('undeployed' = any (a.reasons) and not a.is_module)
    union
    select b.node, b.node, bool_or(b.planned), bool_or(b.asked)
    from blocks as b
    where b.node not in (select a.config_address from asked as a where not a.is_module)
    group by b.node;
end;
$$;

comment on function kl_internal.scope_absent(
    kl_internal.scope_item[], integer[], kl_internal.scope_object[], kl_internal.scope_need[],
    text[]
) is
'What a scope names or needs that the state does not have, but for what the client removed.

p_present: the items that the state has something of. p_nodes: the blocks of the client''s
configuration.';
