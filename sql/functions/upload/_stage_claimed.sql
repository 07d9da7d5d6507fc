-- requires: upload/_dependency_hash, upload/_parsed_objects, upload/_refuse_object
create or replace function kl_internal.stage_claimed(
    p_upload_id   uuid,
    p_state_id    uuid,
    p_ordinals    integer[],
    p_blocks      integer[],
    p_forms       integer[],
    p_headers     bytea[],
    p_bodies      jsonb[],
    p_keys        bytea[],
    p_attributes  bytea[],
    p_identities  bytea[],
    p_digests     bytea[],
    p_list_digests uuid[],
    p_set_ids      bigint[]
)
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
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
            p_state_id, 1, p.path, p.address, p.config_address, p.module, p.mode, p.type, p.name,
            p.index_key, p.deposed, p.provider, p.instance_provider, p.resource_extra, p.status,
            p.schema_version, p.attributes, p.attributes_flat, p.sensitive_attributes, p.private,
            l.set_id, p.create_before_destroy, p.identity, p.identity_schema_version, p.extra,
            false, p.slice_hash,
            p.content_hash
                # kl_internal.dependency_hash(null) # kl_internal.dependency_hash(l.set_id::text)
        from kl_internal.parsed_objects(
            p_ordinals, p_blocks, p_forms, p_headers, p_bodies, p_keys, p_attributes,
            p_identities, p_digests, false
        ) as p
        left join unnest(p_list_digests, p_set_ids) as l (list_digest, set_id)
            on l.list_digest = p.list_digest
        where case
            when p.problem is null then p.path is not null
            else kl_internal.refuse_object(p.address, 'instances', p.problem) is not null
        end
        returning config_address, module, provider, content_hash
    ),
    brought as (
        insert into kl_internal.upload_resources (upload_id, config_address, module, provider)
        select distinct
            p_upload_id,
            o.config_address,
            o.module,
            o.provider
        from opened as o
    )
    insert into kl_internal.upload_batches (upload_id, ordinals, row_count, content_digest)
    select
        p_upload_id,
        p_ordinals,
        count(*),
        coalesce(bit_xor(o.content_hash), 0)
    from opened as o;
$$;

comment on function kl_internal.stage_claimed(
    uuid, uuid, integer[], integer[], integer[], bytea[], jsonb[], bytea[], bytea[], bytea[],
    bytea[], uuid[], bigint[]
) is
'Parse objects of a document in the plain form into rows of version 1 of the state that the upload
claims.

Raises: KL001; what a cast to json raises; unique_violation (an object is there twice).';
