-- requires: upload/_dependency_addresses, upload/_dependency_digest, upload/_list_digest
-- requires: upload/_listed_dependencies
create or replace function kl_internal.stage_known_lists(
    p_state_id    uuid,
    p_upload_id   uuid,
    p_bodies      jsonb[],
    out are_known boolean
)
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    with lists as materialized (
        select
            l.list,
            s.id,
            s.digest,
            s.addresses,
            s.config_addresses
        from (
            select
                d.list,
                kl_internal.dependency_digest(kl_internal.dependency_addresses(d.list)) as digest
            from (
                select distinct kl_internal.listed_dependencies(b.body) as list
                from unnest(p_bodies) as b (body)
            ) as d
            where d.list is not null
            offset 0
        ) as l
        left join kl_internal.dependency_sets as s
            on s.state_id = p_state_id
            and s.digest = l.digest
    ),
    staged as (
        insert into kl_internal.upload_dependencies (
            upload_id, list_digest, digest, addresses, config_addresses, dependency_set_id
        )
        select
            p_upload_id,
            kl_internal.list_digest(l.list),
            l.digest,
            l.addresses,
            l.config_addresses,
            l.id
        from lists as l
        where l.id is not null
    )
    select coalesce(bool_and(l.id is not null), true)
    from lists as l;
$$;

comment on function kl_internal.stage_known_lists(uuid, uuid, jsonb[]) is
'Stage the dependencies lists of some objects that a state knows: those need no parsing.

are_known: that is all of them. Raises: KL001 (no list).';
