-- requires: address/_parse_address, commit/_same_object
create or replace function kl_internal.rolled_back_rows(
    p_state_id   uuid,
    p_address    text,
    p_version_no bigint
)
returns table (
    before  kl_internal.resources,
    after   kl_internal.resources,
    path    text,
    action  text
)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    with bounds as (
        select a.path
        from kl_internal.parse_address(p_address) as a
    ),
    now_rows as materialized (
        select r as object, r.id, r.path
        from bounds as b
        inner join kl_internal.resources as r
            on r.state_id = p_state_id
            and r.closed_no is null
            and r.path >= b.path collate "C"
            and r.path < b.path || E'\x08' collate "C"
    ),
    then_rows as materialized (
        select n.object, n.id, n.path
        from now_rows as n
        where (n.object).opened_no <= p_version_no
        union all
        select r as object, r.id, r.path
        from bounds as b
        inner join kl_internal.resources as r
            on r.state_id = p_state_id
            and r.closed_no > p_version_no
            and r.opened_no <= p_version_no
            and r.path >= b.path collate "C"
            and r.path < b.path || E'\x08' collate "C"
    )
    select
        n.object,
        t.object,
        coalesce(t.path, n.path),
        case
            when t.id is null then 'remove'
            when n.id is null then 'restore'
            when t.id = n.id or kl_internal.same_object(n.object, t.object) then 'no-op'
            else 'replace'
        end
    from then_rows as t
    full join now_rows as n on n.path = t.path
    order by 3;
$$;

comment on function kl_internal.rolled_back_rows(uuid, text, bigint) is
'Each object at an address as it is and as it was at a version, and what brings it back there.

action: replace, restore (it has gone since), remove (it came since), no-op. Raises: KL001.';
