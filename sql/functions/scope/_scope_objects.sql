create or replace function kl_internal.scope_objects(
    p_items   kl_internal.scope_item[],
    p_written kl_internal.scope_object[],
    p_reads   kl_internal.scope_object[]
)
returns table (address text, path text, mode text, block text)
language plpgsql
stable
rows 1000
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with calls as materialized (
        -- What is named through a module call without key that has keys, or may have.
        select i.address, i.config_address, i.path, i.is_module, m.module_path
        from (
            select n.*
            from unnest(p_items) as n
            where n.is_module or n.note is not null
            offset 0
        ) as i
        cross join lateral kl_internal.parse_module(
            case when i.is_module then i.address end
        ) as m
        where not i.is_module
            or not starts_with(i.path, m.module_path)
    ),
    objects as (
        -- What is named by its block and by an instance is named by its block, which is shorter.
        select distinct on (w.mode, w.path collate "C")
            w.*
        from (
            select 'write' as mode, n.path, n.address, n.config_address, n.block
            from unnest(p_written) as n
            union all
            select 'read', r.path, r.address, r.config_address, r.block
            from unnest(p_reads) as r
        ) as w
        order by w.mode desc, w.path collate "C", w.block collate "C"
    )
    select
        o.address,
        o.path,
        o.mode,
        coalesce(
            -- Such a call may get more instances.
            case when o.mode = 'write' and exists (select from calls) then (
                select k.address
                from calls as k
                where o.path >= k.path collate "C"
                    and o.path < (k.path || E'\x08') collate "C"
                    and case
                        when k.is_module then
                            starts_with(o.config_address, k.config_address || '.')
                            and not starts_with(o.path, k.module_path)
                        else o.config_address = k.config_address
                    end
                order by k.path collate "C", k.address collate "C"
                limit 1
            ) end,
            o.block
        )
    from objects as o;
end;
$$;

comment on function kl_internal.scope_objects(
    kl_internal.scope_item[], kl_internal.scope_object[], kl_internal.scope_object[]
) is
'What a scope writes, then what it reads, an address once each, in document order, with the address
to reserve for it (block). No object is in both; each may come more than once in its own.

What is named through a module call without key, whose instances have keys, is reserved as it was
named, so that new instances are inside.';
