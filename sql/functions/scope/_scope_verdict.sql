create or replace function kl_internal.scope_verdict(
    p_items   kl_internal.scope_item[],
    p_hints   text[],
    p_needs   kl_internal.scope_need[],
    p_written kl_internal.scope_object[],
    p_told    kl_internal.scope_object[],
    p_reads   kl_internal.scope_object[],
    p_absent  kl_internal.scope_absence[],
    p_nodes   text[]
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        with unlisted as (
            -- A stored list names what is needed indirectly too; a data source stores none.
            select array(
                select r
                from unnest(p_reads) as r
                where r.mode = 'data'
                    and r.dependency_set_id is null
                    and r.id not in (
                        select (n.object).id
                        from unnest(p_needs) as n
                        where n.stored
                            and (n.object).id is not null
                    )
            ) as objects
        ),
        culprits as materialized (
            select distinct c.reason, c.address, c.note
            from unlisted as u
            cross join lateral kl_internal.scope_culprits(
                p_absent, p_told || u.objects, p_nodes
            ) as c
            union all
            select 'file_hint', h.value, null
            from unnest(p_hints) as h (value)
            where cardinality(p_items) = 0
        ),
        notes as materialized (
            select n.is_wide, n.note
            from kl_internal.scope_notes(p_items, p_hints, p_needs, p_written, p_absent) as n
        ),
        said as (
            select c.note, 1 as rank
            from culprits as c
            where c.note is not null
            union
            select n.note, case when n.is_wide then 2 else 3 end
            from notes as n
        ),
        ranked as (
            select
                s.note,
                s.rank,
                row_number() over (partition by s.rank order by s.note collate "C") as position,
                count(*) over (partition by s.rank) as total
            from said as s
        ),
        texts as (
            select coalesce(
                jsonb_agg(
                    case
                        when r.position <= 20 then r.note
                        else format('%s more notes like these', r.total - 20)
                    end
                    order by r.rank, r.position
                ),
                '[]'
            ) as notes
            from ranked as r
            where r.position <= 21
        )
        select jsonb_build_object(
            'confidence', case
                when exists (select from culprits) then 'unsafe'
                when exists (select from notes as n where n.is_wide) then 'widened'
                else 'safe'
            end,
            'notes', t.notes,
            'culprits', (
                select coalesce(
                    jsonb_agg(
                        jsonb_build_object('address', c.address, 'reason', c.reason)
                        order by c.reason, c.address collate "C"
                    ),
                    '[]'
                )
                from culprits as c
            )
        )
        from texts as t
    );
end;
$$;

comment on function kl_internal.scope_verdict(
    kl_internal.scope_item[], text[], kl_internal.scope_need[], kl_internal.scope_object[],
    kl_internal.scope_object[], kl_internal.scope_object[], kl_internal.scope_absence[], text[]
) is
'How sure a scope is, what makes it unsafe, and notes: 20 of a kind at most.

p_told: what is written of which nothing is stored, but for what was removed.';
