-- requires: address/_parse_dependency, upload/_dependency_addresses, upload/_dependency_digest
-- requires: upload/_list_digest, upload/_listed_dependencies
create or replace function kl_internal.stage_delta_lists(
    p_state_id  uuid,
    p_upload_id uuid,
    p_members   jsonb
)
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    -- What the state knows, as most of it, is not parsed again.
    insert into kl_internal.upload_dependencies (
        upload_id, list_digest, digest, addresses, config_addresses, dependency_set_id
    )
    select
        p_upload_id,
        kl_internal.list_digest(l.list),
        l.digest,
        l.addresses,
        coalesce(
            s.config_addresses,
            array(
                select distinct kl_internal.parse_dependency(a.dependency) as config_address
                from unnest(l.addresses) as a (dependency)
                order by config_address
            )
        ),
        s.id
    from (
        select
            a.list,
            a.addresses,
            kl_internal.dependency_digest(a.addresses) as digest
        from (
            select
                d.list,
                kl_internal.dependency_addresses(d.list) as addresses
            from (
                select distinct kl_internal.listed_dependencies(i.body) as list
                from jsonb_array_elements(p_members) as r (members)
                cross join lateral jsonb_array_elements(r.members -> 'instances') as i (body)
            ) as d
            where d.list is not null
            offset 0
        ) as a
        offset 0
    ) as l
    left join lateral (
        select
            k.id,
            k.config_addresses
        from kl_internal.dependency_sets as k
        where k.state_id = p_state_id
            and k.digest = l.digest
        limit 1
    ) as s on true;
$$;

comment on function kl_internal.stage_delta_lists(uuid, uuid, jsonb) is
'Stage the dependencies lists of the instances of a delta, each once.

p_members: its resources. Raises: KL001 (no list, or an entry that is no resource address).';
