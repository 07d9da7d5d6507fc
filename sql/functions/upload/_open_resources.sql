-- requires: upload/_dependency_hash
create or replace function kl_internal.open_resources(
    p_state_id       uuid,
    p_upload_id      uuid,
    p_version_no     bigint,
    out opened_count  bigint,
    out opened_digest bigint
)
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    with opened as (
        insert into kl_internal.resources (
            state_id, opened_no, path, address, config_address, module, mode, type, name,
            index_key, deposed, provider, instance_provider, resource_extra, status,
            schema_version, attributes, attributes_flat, sensitive_attributes, private,
            dependency_set_id, create_before_destroy, identity, identity_schema_version, extra,
            escaped, slice_hash, content_hash
        )
        select
            p_state_id, p_version_no, u.path, u.address, u.config_address, u.module, u.mode,
            u.type, u.name, u.index_key, u.deposed, u.provider, u.instance_provider,
            u.resource_extra, u.status, u.schema_version, u.attributes, u.attributes_flat,
            u.sensitive_attributes, u.private, d.id, u.create_before_destroy, u.identity,
            u.identity_schema_version, u.extra, u.escaped, u.slice_hash,
            u.content_hash
                # kl_internal.dependency_hash(null) # kl_internal.dependency_hash(d.id::text)
        from kl_internal.upload_objects as u
        cross join lateral (
            select (
                select l.dependency_set_id
                from kl_internal.upload_dependencies as l
                where l.upload_id = p_upload_id
                    and l.list_digest = u.list_digest
                limit 1
            ) as id
            offset 0
        ) as d
        where u.upload_id = p_upload_id
            and u.path is not null
            and not u.unchanged
        returning content_hash
    )
    select
        count(*),
        coalesce(bit_xor(o.content_hash), 0)
    from opened as o;
$$;

comment on function kl_internal.open_resources(uuid, uuid, bigint) is
'Open a row for each new or changed object of an upload; opened_digest: the xor of their hashes.

Raises: unique_violation (an object is there twice).';
