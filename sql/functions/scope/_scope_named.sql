-- requires: address/_block_address
create or replace function kl_internal.scope_named(
    p_state_id  uuid,
    p_items     kl_internal.scope_item[],
    p_calls     text[],
    out present integer[],
    out ids     bigint[],
    out written kl_internal.scope_object[],
    out reads   kl_internal.scope_object[],
    out told    kl_internal.scope_object[],
    out sets    bigint[],
    out configs text[],
    out places  text[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    with items as (
        select
            i.position::integer as item_no,
            i.role,
            i.config_address,
            i.path,
            i.is_module,
            i.keyed,
            i.note is not null and not i.is_module as by_block
        from unnest(p_items) with ordinality
            as i (role, address, config_address, path, is_module, keyed, note, position)
    ),
    found as (
        -- By path; the path of what is wider than its name holds other blocks too.
        select i.item_no, i.role, i.keyed, r.*
        from items as i
        cross join lateral (
            select o.*
            from kl_internal.resources as o
            where o.state_id = p_state_id
                and o.closed_no is null
                and o.path >= i.path
                and o.path < i.path || E'\x08'
                and not i.by_block
                and (not i.is_module or starts_with(o.config_address, i.config_address || '.'))
            offset 0
        ) as r
        union all
        select i.item_no, i.role, i.keyed, r.*
        from items as i
        cross join lateral (
            select o.*
            from kl_internal.resources as o
            where o.state_id = p_state_id
                and o.closed_no is null
                and hashtextextended(o.config_address, 0)
                    = hashtextextended(i.config_address, 0)
                and o.config_address = i.config_address
                and starts_with(o.path, i.path)
                and i.by_block
            offset 0
        ) as r
    ),
    named as materialized (
        select
            f.item_no,
            f.role,
            f.id,
            case f.deposed when '' then f.path else split_part(f.path, E'\x07', 1) end as path,
            f.address,
            f.config_address,
            case
                when f.keyed then f.address
                else kl_internal.block_address(f.address, f.index_key, f.escaped)
            end as block,
            f.mode,
            f.deposed <> '' as is_deposed,
            f.dependency_set_id
        from found as f
    ),
    sources as (
        select distinct
            n.dependency_set_id,
            n.config_address,
            case when p_calls = '{}' then '' else split_part(n.path, E'\x05', 1) end as place
        from named as n
        where not n.is_deposed
    ),
    objects as (
        select
            n.item_no,
            n.role,
            n.id,
            row(
                n.id, n.path, n.address, n.config_address, n.block, n.mode, n.is_deposed,
                n.dependency_set_id
            )::kl_internal.scope_object as object,
            n.role in ('write', 'undeployed')
                and n.dependency_set_id is null
                and not n.is_deposed
                and n.id not in (select o.id from named as o where o.role = 'removed')
                as is_told
        from named as n
    )
    select o.*, s.*
    into present, ids, written, reads, told, sets, configs, places
    from (
        select
            coalesce(array_agg(distinct o.item_no), '{}') as present,
            coalesce(array_agg(o.id), '{}') as ids,
            coalesce(array_agg(o.object) filter (where o.role <> 'read'), '{}') as written,
            coalesce(array_agg(o.object) filter (where o.role = 'read'), '{}') as reads,
            coalesce(array_agg(o.object) filter (where o.is_told), '{}') as told
        from objects as o
    ) as o
    cross join (
        select
            coalesce(array_agg(s.dependency_set_id), '{}') as sets,
            coalesce(array_agg(s.config_address), '{}') as configs,
            coalesce(array_agg(s.place), '{}') as places
        from sources as s
    ) as s;
end;
$$;

comment on function kl_internal.scope_named(uuid, kl_internal.scope_item[], text[]) is
'The objects that items name, one that two of them name twice.

present: the items that the state has something of, by their place in p_items. told: of what is
written, what has no stored dependencies and was not removed: somebody must tell them.
sets, configs, places: where to look for dependencies, each once; see kl_internal.scope_edges.';
