create or replace function kl_internal.stage_dependency_sets(p_state_id uuid, p_upload_id uuid)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    with staged as (
        select distinct s.dependencies
        from kl_internal.staged_slices as s
        where s.upload_id = p_upload_id
            and s.kind = 'resource'
            and s.dependencies is not null
            and s.dependencies not in ('null', '[]')
    ),
    lists as (
        select distinct kl_internal.dependency_list(s.dependencies) as addresses
        from staged as s
    ),
    configured as (
        select
            d.dependency,
            kl_internal.parse_dependency(d.dependency) as config_address
        from (
            select distinct unnest(l.addresses) as dependency
            from lists as l
        ) as d
    )
    insert into kl_internal.dependency_sets (state_id, digest, addresses, config_addresses)
    select
        p_state_id,
        kl_internal.dependency_digest(l.addresses),
        l.addresses,
        (
            select array_agg(distinct c.config_address order by c.config_address)
            from unnest(l.addresses) as a (dependency)
            inner join configured as c on c.dependency = a.dependency
        )
    from lists as l
    where l.addresses <> '{}'
    on conflict (state_id, digest) do nothing;
end;
$$;

comment on function kl_internal.stage_dependency_sets(uuid, uuid) is
'Keep each distinct dependencies list of an upload once per state.

Raises: KL001 (an entry that is no resource address).';
