create or replace function kl_internal.scope_lists(
    p_items   kl_internal.scope_item[],
    p_written kl_internal.scope_object[],
    p_reads   kl_internal.scope_object[],
    p_absent  kl_internal.scope_absence[]
)
returns kl_internal.scope_lists
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_lists kl_internal.scope_lists;
begin
    -- As text: each list is in the answer twice, and jsonb would copy it at every step.
    with objects as materialized (
        select o.address, o.path, o.mode, o.block
        from kl_internal.scope_objects(p_items, p_written, p_reads) as o
    ),
    candidates as (
        select o.block as glob, o.mode, min(o.path collate "C") as path
        from objects as o
        group by 1, 2
        union all
        select a.address, 'write', null
        from unnest(p_absent) as a
        where a.planned
            and not exists (select from objects as o where o.block = a.address)
    )
    select o.*, a.*, r.*, c.*
    into v_lists
    from (
        select
            coalesce(json_agg(o.address), '[]'),
            coalesce(json_agg(o.address) filter (where o.mode = 'write'), '[]'),
            coalesce(json_agg(o.address) filter (where o.mode = 'read'), '[]'),
            count(*) filter (where o.mode = 'write'),
            count(*) filter (where o.mode = 'read')
        from objects as o
    ) as o
    cross join (
        select
            coalesce(json_agg(a.address), '[]'),
            coalesce(json_agg(a.address) filter (where a.planned), '[]'),
            coalesce(json_agg(a.address) filter (where not a.planned), '[]'),
            count(*) filter (where a.planned),
            count(*) filter (where not a.planned)
        from (
            select a.*
            from unnest(p_absent) as a
            order by a.address collate "C"
        ) as a
    ) as a
    cross join (
        select coalesce(json_agg(i.address order by i.address collate "C"), '[]')
        from unnest(p_items) as i
        where i.role = 'removed'
    ) as r
    cross join (
        select coalesce(
            json_agg(
                json_build_object('address_glob', c.glob, 'mode', c.mode)
                order by c.mode desc, c.path collate "C" nulls last, c.glob collate "C"
            ),
            '[]'
        )
        from candidates as c
    ) as c;

    return v_lists;
end;
$$;

comment on function kl_internal.scope_lists(
    kl_internal.scope_item[], kl_internal.scope_object[], kl_internal.scope_object[],
    kl_internal.scope_absence[]
) is
'The lists of a scope contract, in document order, writes first; p_written, p_reads: see
kl_internal.scope_objects.';
