create or replace function kl_internal.scope_answer(
    p_items   kl_internal.scope_item[],
    p_written bigint[],
    p_whole   bigint[],
    p_reads   bigint[],
    p_absent  kl_internal.scope_absence[]
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        with calls as materialized (
            select i.address, i.config_address, i.path, m.module_path
            from unnest(p_items) as i
            cross join lateral kl_internal.parse_module(i.address) as m
            where i.is_module
        ),
        objects as (
            select
                r.address,
                min(r.path) as path,
                w.mode,
                -- What is named or needed without key may get more instances.
                case
                    when c.address is not null then c.address
                    when bool_or(b.id is not null) then
                        left(
                            r.address,
                            length(r.address)
                                - length(kl_internal.instance_key_text(r.index_key, r.escaped))
                        )
                end as block
            from (
                select p.id, 'write' as mode
                from unnest(p_written) as p (id)
                union all
                select p.id, 'read'
                from unnest(p_reads) as p (id)
            ) as w
            inner join kl_internal.resources as r on r.id = w.id
            left join unnest(p_whole) as b (id) on b.id = w.id
            left join lateral (
                -- A call named without key that has keys here may get more of them.
                select k.address
                from calls as k
                where w.mode = 'write'
                    and r.path >= k.path
                    and r.path < k.path || E'\x08'
                    and starts_with(r.config_address, k.config_address || '.')
                    and not starts_with(r.path, k.module_path)
                order by k.path, k.address collate "C"
                limit 1
            ) as c on true
            group by r.address, r.index_key, r.escaped, w.mode, c.address
        ),
        addresses as (
            select
                coalesce(jsonb_agg(o.address order by o.path) filter (where o.mode = 'write'), '[]')
                    as writes,
                coalesce(jsonb_agg(o.address order by o.path) filter (where o.mode = 'read'), '[]')
                    as reads
            from objects as o
        ),
        absent as (
            select
                coalesce(jsonb_agg(a.address order by a.address collate "C"), '[]') as every,
                coalesce(
                    jsonb_agg(a.address order by a.address collate "C") filter (where a.planned),
                    '[]'
                ) as planned,
                coalesce(
                    jsonb_agg(a.address order by a.address collate "C")
                        filter (where not a.planned),
                    '[]'
                ) as unknown
            from unnest(p_absent) as a
        ),
        reservations as (
            select coalesce(
                jsonb_agg(
                    jsonb_build_object('address_glob', g.glob, 'mode', g.mode)
                    order by g.mode desc, g.path nulls last, g.glob collate "C"
                ),
                '[]'
            ) as candidates
            from (
                select coalesce(o.block, o.address) as glob, o.mode, min(o.path) as path
                from objects as o
                group by 1, 2
                union all
                select a.address, 'write', null
                from unnest(p_absent) as a
                where a.planned
                    and not exists (select from objects as o where o.block = a.address)
            ) as g
        )
        select jsonb_build_object(
            'fetch_addresses', d.writes || d.reads,
            'write_addresses', d.writes,
            'read_addresses', d.reads,
            'config_required_nodes', a.planned,
            'removed_config_nodes', (
                select coalesce(jsonb_agg(i.address order by i.address collate "C"), '[]')
                from unnest(p_items) as i
                where i.role = 'removed'
            ),
            'missing_from_state', a.every,
            'undeployed_candidates', a.planned,
            'unknown_missing_from_state', a.unknown,
            'reservation_candidates', r.candidates
        )
        from addresses as d
        cross join absent as a
        cross join reservations as r
    );
end;
$$;

comment on function kl_internal.scope_answer(
    kl_internal.scope_item[], bigint[], bigint[], bigint[], kl_internal.scope_absence[]
) is
'The lists of a scope contract, in document order, writes first.

p_whole: those that were named by their block or module, or are needed: stored dependencies are of
blocks. The reservations of those are of the block, and of a module call whose instances have keys
where that was named without one, so that new instances are inside.';
