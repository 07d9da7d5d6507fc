-- requires: address/_parse_dependency, upload/_dependency_addresses, upload/_dependency_digest
-- requires: upload/_listed_dependencies, upload/_list_digest
create or replace function kl_internal.parsed_lists(p_bodies jsonb[])
returns table (
    list_digest       uuid,
    digest            bytea,
    addresses         text[],
    config_addresses  text[]
)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    with lists as materialized (
        select
            u.list_digest,
            kl_internal.dependency_addresses(u.list) as addresses
        from (
            select distinct on (kl_internal.list_digest(l.list))
                kl_internal.list_digest(l.list) as list_digest,
                l.list
            from unnest(p_bodies) as b (body)
            cross join lateral (
                select kl_internal.listed_dependencies(b.body) as list
            ) as l
            where l.list is not null
        ) as u
    ),
    configured as materialized (
        select
            d.dependency,
            kl_internal.parse_dependency(d.dependency) as config_address
        from (
            select distinct a.dependency
            from lists as l
            cross join lateral unnest(l.addresses) as a (dependency)
        ) as d
    )
    select
        l.list_digest,
        kl_internal.dependency_digest(l.addresses),
        l.addresses,
        array_agg(distinct c.config_address order by c.config_address)
    from lists as l
    cross join lateral unnest(l.addresses) as a (dependency)
    inner join configured as c on c.dependency = a.dependency
    group by l.list_digest, l.addresses;
$$;

comment on function kl_internal.parsed_lists(jsonb[]) is
'The distinct dependencies lists of instance objects, parsed.

Raises: KL001 (an entry that is no resource address).';
