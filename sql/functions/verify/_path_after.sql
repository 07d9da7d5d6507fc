create or replace function kl_internal.path_after(
    p_state_id uuid,
    p_after    text,
    p_limit    integer
)
returns text
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    with open_paths as (
        select r.path
        from kl_internal.resources as r
        where r.state_id = p_state_id
            and r.closed_no is null
            and r.path > p_after collate "C"
        order by r.path
        limit p_limit
    ),
    closed_paths as (
        select r.path
        from kl_internal.resources as r
        where r.state_id = p_state_id
            and r.closed_no is not null
            and r.path > p_after collate "C"
        order by r.path
        limit p_limit
    )
    select p.path
    from (
        select o.path from open_paths as o
        union all
        select c.path from closed_paths as c
    ) as p
    order by p.path
    offset p_limit - 1
    limit 1;
$$;

comment on function kl_internal.path_after(uuid, text, integer) is
'The path of the p_limit-th row of a state after p_after, open or closed; null if there are fewer.';
