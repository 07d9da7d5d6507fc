-- requires: upload/_object_columns, upload/_parsed_objects, upload/_stage_dependencies
-- requires: verify/_resource_hash
create or replace function kl_internal.stage_parsed(
    p_upload_id  uuid,
    p_ordinals   integer[],
    p_blocks     integer[],
    p_headers    bytea[],
    p_slices     bytea[],
    p_attributes bytea[],
    p_identities bytea[],
    p_digests    bytea[],
    p_escaped    boolean
)
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
as $$
    with parsed as materialized (
        select p.*
        from kl_internal.parsed_objects(
            p_ordinals, p_blocks, p_headers, p_slices, p_attributes, p_identities, p_digests,
            p_escaped
        ) as p
    ),
    staged as (
        insert into kl_internal.upload_objects (
            upload_id, ordinal, path, address, config_address, module, mode, type, name,
            index_key, deposed, provider, instance_provider, resource_extra, status,
            schema_version, attributes, attributes_flat, sensitive_attributes, private,
            list_digest, create_before_destroy, identity, identity_schema_version, extra,
            escaped, slice_hash, content_hash, problem, problem_detail
        )
        select
            p_upload_id, p.ordinal, p.path, p.address, p.config_address, p.header ->> 'module',
            p.header ->> 'mode', p.header ->> 'type', p.header ->> 'name', p.index_key, p.deposed,
            p.header ->> 'provider', c.instance_provider, p.resource_extra, c.status,
            c.schema_version, p.attributes, c.attributes_flat, c.sensitive_attributes, c.private,
            p.list_digest, c.create_before_destroy, p.identity, c.identity_schema_version,
            c.extra, p_escaped, p.slice_hash,
            kl_internal.resource_hash(
                p.path, p.header ->> 'module', p.index_key::text, p.header ->> 'provider',
                c.instance_provider, p.resource_extra::text, c.status, c.schema_version::text,
                p.attributes::text, c.attributes_flat::text, c.sensitive_attributes::text,
                c.private, null, c.create_before_destroy::text, p.identity::text,
                c.identity_schema_version::text, c.extra::text, p_escaped::text
            ),
            'resource ' || coalesce(nullif(p.address, ''), '?') || ': ' || p.problem
                || '; nothing was stored',
            case
                when p.problem is not null then jsonb_build_object('address', p.address)
            end
        from parsed as p
        cross join lateral kl_internal.object_columns(
            p.address, p.header ->> 'provider', case when p.problem is null then p.body end
        ) as c
    )
    select kl_internal.stage_dependencies(
        p_upload_id,
        array_agg(p.list_digest),
        array_agg(p.body -> 'dependencies')
    )
    from parsed as p
    where p.list_digest is not null
        and p.problem is null;
$$;

comment on function kl_internal.stage_parsed(
    uuid, integer[], integer[], bytea[], bytea[], bytea[], bytea[], bytea[], boolean
) is
'Parse objects of a document into upload_objects, all in the plain or all in the escaped form.

Raises: KL001; what a cast to json raises.';
