-- requires: address/_parse_dependency, upload/_dependency_addresses, upload/_dependency_digest
create or replace function kl_internal.stage_dependencies(
    p_upload_id uuid,
    p_digests   uuid[],
    p_lists     jsonb[]
)
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    with lists as materialized (
        select
            u.list_digest,
            kl_internal.dependency_addresses(u.list) as addresses
        from (
            select distinct on (a.list_digest)
                a.list_digest,
                a.list
            from unnest(p_digests, p_lists) as a (list_digest, list)
        ) as u
        where not exists (
            select
            from kl_internal.upload_dependencies as d
            where d.upload_id = p_upload_id
                and d.list_digest = u.list_digest
        )
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
    insert into kl_internal.upload_dependencies (
        upload_id, list_digest, digest, addresses, config_addresses
    )
    select
        p_upload_id,
        l.list_digest,
        kl_internal.dependency_digest(l.addresses),
        l.addresses,
        array_agg(distinct c.config_address order by c.config_address)
    from lists as l
    cross join lateral unnest(l.addresses) as a (dependency)
    inner join configured as c on c.dependency = a.dependency
    group by l.list_digest, l.addresses;
$$;

comment on function kl_internal.stage_dependencies(uuid, uuid[], jsonb[]) is
'Keep those of the dependencies lists that the upload has not brought yet.

Raises: KL001 (an entry that is no resource address).';
