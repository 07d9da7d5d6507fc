create or replace function kl_internal.scope_rows(
    p_state_id uuid,
    p_items    kl_internal.scope_item[]
)
returns table (
    item_no           integer,
    id                bigint,
    path              text,
    config_address    text,
    deposed           text,
    dependency_set_id bigint
)
language plpgsql
stable
rows 1000
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with items as (
        select
            i.position::integer as item_no,
            i.config_address,
            i.path,
            i.is_module,
            i.note is not null and not i.is_module as by_block
        from unnest(p_items) with ordinality
            as i (role, address, config_address, path, is_module, keyed, note, position)
    )
    -- By path; the path of what is wider than its name holds other blocks too.
    select i.item_no, r.id, r.path, r.config_address, r.deposed, r.dependency_set_id
    from items as i
    cross join lateral (
        select o.id, o.path, o.config_address, o.deposed, o.dependency_set_id
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
    select i.item_no, r.id, r.path, r.config_address, r.deposed, r.dependency_set_id
    from items as i
    cross join lateral (
        select o.id, o.path, o.config_address, o.deposed, o.dependency_set_id
        from kl_internal.resources as o
        where o.state_id = p_state_id
            and o.closed_no is null
            and hashtextextended(o.config_address, 0) = hashtextextended(i.config_address, 0)
            and o.config_address = i.config_address
            and starts_with(o.path, i.path)
            and i.by_block
        offset 0
    ) as r;
end;
$$;

comment on function kl_internal.scope_rows(uuid, kl_internal.scope_item[]) is
'Which objects of a state are what each item names, by its place in p_items.';
