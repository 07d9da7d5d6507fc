create or replace function kl_internal.slice_blocks(
    p_state_id uuid,
    p_paths    text[],
    out texts  text,
    out total  bigint
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    select
        coalesce(string_agg(r.separator || r.instance, '' order by r.path) || ']}', ''),
        count(distinct r.place)
    into texts, total
    from (
        select
            p.place,
            o.path,
            case
                when lag(o.header) over in_order is null then o.header
                when lag(o.header) over in_order = o.header then ','
                else ']},' || o.header
            end as separator,
            o.instance
        from unnest(p_paths) with ordinality as p (path, place)
        cross join lateral (
            select d.path, d.header, d.instance
            from kl_internal.resource_documents as d
            where d.state_id = p_state_id
                and d.closed_no is null
                and d.path >= p.path
                and d.path < p.path || E'\x08'
            offset 0
        ) as o
        window in_order as (order by o.path)
    ) as r;
end;
$$;

comment on function kl_internal.slice_blocks(uuid, text[]) is
'The instances at some paths as the resources of a state document, in its order; and of how many
paths there are any.';
