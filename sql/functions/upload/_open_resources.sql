-- requires: upload/_parsed_objects, verify/_resource_hash
create or replace function kl_internal.open_resources(
    p_state_id   uuid,
    p_upload_id  uuid,
    p_version_no bigint
)
returns bigint
language sql
volatile
set search_path = pg_catalog, pg_temp
set enable_nestloop = off  -- the stage has no statistics: it is as large as the state
set enable_hashjoin = off  -- slices are wide; in primary key order they need no memory
set work_mem = '64MB'
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
            u.type, u.name, u.index_key, u.deposed, u.provider, p.instance_provider,
            u.resource_extra, p.status, p.schema_version, p.attributes, p.attributes_flat,
            p.sensitive_attributes, p.private, u.dependency_set_id, p.create_before_destroy,
            p.identity, p.identity_schema_version, p.extra, u.escaped, k.digest,
            kl_internal.resource_hash(
                u.path, u.module, u.index_key::text, u.provider, p.instance_provider,
                u.resource_extra::text, p.status, p.schema_version::text, p.attributes::text,
                p.attributes_flat::text, p.sensitive_attributes::text, p.private,
                u.dependency_set_id::text, p.create_before_destroy::text, p.identity::text,
                p.identity_schema_version::text, p.extra::text, u.escaped::text
            )
        from kl_internal.parsed_objects(p_upload_id) as p
        inner join kl_internal.upload_objects as u
            on u.upload_id = p_upload_id
            and u.ordinal = p.ordinal
        inner join kl_internal.staged_keys as k
            on k.upload_id = p_upload_id
            and k.ordinal = p.ordinal
        returning content_hash
    )
    select coalesce(bit_xor(o.content_hash), 0)
    from opened as o;
$$;

comment on function kl_internal.open_resources(uuid, uuid, bigint) is
'Open a row for each new or changed object of an upload; returns the xor of their hashes.

Raises: KL001; what jsonb raises where an object does not fit it.';
