-- requires: states/_resource_documents.view
create or replace function kl_internal.render_objects(
    p_state_id   uuid,
    p_version_no bigint,
    p_after      text,
    p_limit      integer,
    out chunk     text,
    out last_path text
)
language sql
stable
set search_path = pg_catalog, pg_temp
set enable_sort = off  -- a page comes in index order, even of a state that statistics do not know
as $$
    -- The object at p_after comes along: its header tells whether the first new object opens a
    -- resource. The rows alive at a version never change, so pages of many statements agree.
    with open_rows as (
        select d.*
        from kl_internal.resource_documents as d
        where d.state_id = p_state_id
            and d.closed_no is null
            and d.opened_no <= p_version_no
            and d.path >= p_after collate "C"
        order by d.path
        limit p_limit + 1
    ),
    closed_since as materialized (
        -- None, where the version is the current one.
        select r.id
        from kl_internal.resources as r
        where r.state_id = p_state_id
            and r.closed_no > p_version_no
        limit p_limit + 1
    ),
    closed_rows as (
        -- Few are found by when they were closed: a state may have closed millions before.
        select d.*
        from closed_since as c
        inner join kl_internal.resource_documents as d on d.id = c.id
        where (select count(*) from closed_since) <= p_limit
            and d.opened_no <= p_version_no
            and d.path >= p_after collate "C"
        union all
        (
            -- Many are found by where they are, as far as this page goes.
            select d.*
            from kl_internal.resource_documents as d
            where (select count(*) from closed_since) > p_limit
                and d.state_id = p_state_id
                and d.closed_no > p_version_no
                and d.opened_no <= p_version_no
                and d.path >= p_after collate "C"
                and d.path <= coalesce(
                    (select max(o.path) from open_rows as o having count(*) > p_limit), E'\x08'
                ) collate "C"
            order by d.path
            limit p_limit + 1
        )
    ),
    objects as (
        select o.*
        from open_rows as o
        union all
        select c.*
        from closed_rows as c
        order by path
        limit p_limit + 1
    ),
    rendered as (
        select
            o.path,
            case
                when lag(o.header) over in_order is null then o.header
                when lag(o.header) over in_order = o.header then ','
                else ']},' || o.header
            end as separator,
            o.instance
        from objects as o
        window in_order as (order by o.path)
    )
    select
        string_agg(r.separator || r.instance, '' order by r.path),
        max(r.path)
    from rendered as r
    where r.path > p_after collate "C";
$$;

comment on function kl_internal.render_objects(uuid, bigint, text, integer) is
'A run of the resources array of a version in document order: text to append, and where it ends.

p_after is the last path of the previous run, '''' for the first. Null when there is no more. The
last run leaves its resource open: close it with ]}.';
