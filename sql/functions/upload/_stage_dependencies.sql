create or replace function kl_internal.stage_dependencies(p_upload_id uuid, p_bodies jsonb[])
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    insert into kl_internal.upload_dependencies (
        upload_id, list_digest, digest, addresses, config_addresses
    )
    select
        p_upload_id,
        l.list_digest,
        l.digest,
        l.addresses,
        l.config_addresses
    from kl_internal.parsed_lists(p_bodies) as l
    where not exists (
        select
        from kl_internal.upload_dependencies as d
        where d.upload_id = p_upload_id
            and d.list_digest = l.list_digest
    );
$$;

comment on function kl_internal.stage_dependencies(uuid, jsonb[]) is
'Keep those of the dependencies lists that the upload has not brought yet.

Raises: KL001 (an entry that is no resource address).';
