create or replace function kl_internal.scope_objects(
    p_items   kl_internal.scope_item[],
    p_written bigint[],
    p_whole   bigint[],
    p_reads   bigint[]
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
    )
    select
        r.address,
        r.path,
        w.mode,
        coalesce(
            -- Such a call may get more instances.
            case when w.mode = 'write' and exists (select from calls) then (
                select k.address
                from calls as k
                where r.path >= k.path
                    and r.path < k.path || E'\x08'
                    and case
                        when k.is_module then
                            starts_with(r.config_address, k.config_address || '.')
                            and not starts_with(r.path, k.module_path)
                        else r.config_address = k.config_address
                    end
                order by k.path, k.address collate "C"
                limit 1
            ) end,
            -- What is named or needed without key may get more instances.
            case
                when b.id is null then r.address
                when jsonb_typeof(r.index_key) = 'number' then
                    rtrim(rtrim(rtrim(r.address, ']'), '-0123456789'), '[')
                else
                    left(
                        r.address,
                        length(r.address)
                            - length(kl_internal.instance_key_text(r.index_key, r.escaped))
                    )
            end
        )
    from (
        select p.id, 'write' as mode
        from unnest(p_written) as p (id)
        union all
        select p.id, 'read'
        from unnest(p_reads) as p (id)
    ) as w
    inner join kl_internal.resources as r on r.id = w.id
    left join unnest(p_whole) as b (id) on b.id = w.id
    -- A deposed object, only where nothing comes before it at its address.
    where r.deposed = ''
        or not exists (
            select
            from kl_internal.resources as o
            where o.state_id = r.state_id
                and o.closed_no is null
                and o.path >= split_part(r.path, E'\x07', 1)
                and o.path < r.path
        );
end;
$$;

comment on function kl_internal.scope_objects(
    kl_internal.scope_item[], bigint[], bigint[], bigint[]
) is
'What a scope writes and reads, an address once each, with the address to reserve for it (block).

p_whole: those that were named by their block or module, or are needed: stored dependencies are of
blocks. The reservations of those are of the block, and what is named through a module call without
key, whose instances have keys, is reserved as it was named, so that new instances are inside.';
