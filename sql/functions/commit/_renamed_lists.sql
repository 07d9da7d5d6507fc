-- requires: address/_parse_dependency
create or replace function kl_internal.renamed_lists(
    p_state_id uuid,
    p_set_ids  bigint[],
    p_moves    kl_internal.row_move[]
)
returns table (dependency_set_id bigint, addresses text[])
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    with renames as materialized (
        select distinct
            (m.before).config_address as old_name,
            (m.after).config_address as new_name
        from unnest(p_moves) as m
        where (m.before).config_address <> (m.after).config_address
    ),
    names as materialized (
        -- Where siblings stay, under whatever key, the old text is still true as well.
        select
            n.old_name,
            n.new_name
        from renames as n
        union
        select
            n.old_name,
            n.old_name
        from renames as n
        where exists (
            select
            from kl_internal.resources as r
            where r.state_id = p_state_id
                and r.closed_no is null
                and hashtextextended(r.config_address, 0) = hashtextextended(n.old_name, 0)
                and r.config_address = n.old_name
                and not exists (
                    select
                    from unnest(p_moves) as m
                    where (m.before).id = r.id
                )
        )
            or exists (
                select
                from unnest(p_moves) as m
                where (m.before).config_address = n.old_name
                    and (m.after).config_address = n.old_name
            )
    ),
    entries as (
        select
            d.id,
            e.position,
            case
                when n.new_name is null or n.new_name = n.old_name then e.dependency
                else n.new_name
            end as dependency
        from kl_internal.dependency_sets as d
        cross join lateral unnest(d.addresses) with ordinality as e (dependency, position)
        left join names as n on n.old_name = kl_internal.parse_dependency(e.dependency)
        where d.state_id = p_state_id
            and (
                d.id = any (p_set_ids)
                or d.config_addresses && array(select r.old_name from renames as r)
            )
    )
    select
        f.id,
        array_agg(f.dependency order by f.position, f.dependency collate "C")
    from (
        select
            e.id,
            e.dependency,
            min(e.position) as position
        from entries as e
        group by e.id, e.dependency
    ) as f
    group by f.id;
$$;

comment on function kl_internal.renamed_lists(uuid, bigint[], kl_internal.row_move[]) is
'The dependencies lists of a state that name what moves, with its new configuration addresses.

p_set_ids: lists that are wanted in any case.';
