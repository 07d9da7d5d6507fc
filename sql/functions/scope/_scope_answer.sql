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
        with objects as materialized (
            select o.address, o.path, o.mode, o.block
            from kl_internal.scope_objects(p_items, p_written, p_whole, p_reads) as o
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
                select o.block as glob, o.mode, min(o.path) as path
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

p_written, p_whole, p_reads: see kl_internal.scope_objects.';
