create or replace function kl_internal.merge_checks(p_old jsonb, p_new jsonb)
returns jsonb
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
    -- A result stays where it was; what is new comes last.
    with old as (
        select
            o.position,
            o.result
        from jsonb_array_elements(
            case when jsonb_typeof(p_old) = 'array' then p_old else '[]' end
        ) with ordinality as o (result, position)
    ),
    new as (
        select
            n.position,
            n.result,
            (
                select min(o.position)
                from old as o
                where o.result -> 'config_addr' = n.result -> 'config_addr'
            ) as old_position
        from jsonb_array_elements(p_new) with ordinality as n (result, position)
    )
    select coalesce(
        jsonb_agg(m.result order by m.old_position nulls last, m.position),
        '[]'
    )
    from (
        select
            o.result,
            o.position as old_position,
            0 as position
        from old as o
        where not exists (
            select
            from new as n
            where n.result -> 'config_addr' = o.result -> 'config_addr'
        )
        union all
        select n.result, n.old_position, n.position
        from new as n
    ) as m;
$$;

comment on function kl_internal.merge_checks(jsonb, jsonb) is
'Check results with those of a delta in place of the ones that have the same config_addr.';
