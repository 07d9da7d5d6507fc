-- requires: upload/_parsed_objects
create or replace function kl_internal.insert_parsed(
    p_upload_id  uuid,
    p_ordinals   integer[],
    p_blocks     integer[],
    p_forms      integer[],
    p_headers    bytea[],
    p_bodies     jsonb[],
    p_keys       bytea[],
    p_attributes bytea[],
    p_identities bytea[],
    p_digests    bytea[],
    p_escaped    boolean
)
returns table (
    path            text,
    address         text,
    config_address  text,
    module          text,
    type            text,
    name            text,
    provider        text,
    problem         text
)
language sql
volatile
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
as $$
    insert into kl_internal.upload_objects (
        upload_id, ordinal, path, address, config_address, module, mode, type, name,
        index_key, deposed, provider, instance_provider, resource_extra, status,
        schema_version, attributes, attributes_flat, sensitive_attributes, private,
        list_digest, create_before_destroy, identity, identity_schema_version, extra,
        escaped, slice_hash, content_hash, problem, problem_detail
    )
    select
        p_upload_id, p.ordinal, p.path, p.address, p.config_address, p.module, p.mode, p.type,
        p.name, p.index_key, p.deposed, p.provider, p.instance_provider, p.resource_extra,
        p.status, p.schema_version, p.attributes, p.attributes_flat, p.sensitive_attributes,
        p.private, p.list_digest, p.create_before_destroy, p.identity,
        p.identity_schema_version, p.extra, p_escaped, p.slice_hash, p.content_hash,
        'resource ' || coalesce(nullif(p.address, ''), '?') || ': ' || p.problem
            || '; nothing was stored',
        case
            when p.problem is not null then jsonb_build_object('address', p.address)
        end
    from kl_internal.parsed_objects(
        p_ordinals, p_blocks, p_forms, p_headers, p_bodies, p_keys, p_attributes,
        p_identities, p_digests, p_escaped
    ) as p
    returning path, address, config_address, module, type, name, provider, problem;
$$;

comment on function kl_internal.insert_parsed(
    uuid, integer[], integer[], integer[], bytea[], jsonb[], bytea[], bytea[], bytea[], bytea[],
    boolean
) is
'Parse objects of a document into upload_objects, all in the plain or all in the escaped form.

Raises: KL001; what a cast to json raises.';
