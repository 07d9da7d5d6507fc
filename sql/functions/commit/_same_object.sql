-- requires: json/_canonical_set, json/_same_json, upload/_same_dependencies
create or replace function kl_internal.same_object(
    p_one   kl_internal.resources,
    p_other kl_internal.resources
)
returns boolean
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    select p_one.escaped = p_other.escaped
        and (
            p_one.module, p_one.index_key, p_one.provider, p_one.instance_provider,
            p_one.resource_extra, p_one.status, p_one.schema_version, p_one.attributes_flat,
            p_one.private, p_one.create_before_destroy, p_one.identity_schema_version, p_one.extra
        ) is not distinct from (
            p_other.module, p_other.index_key, p_other.provider, p_other.instance_provider,
            p_other.resource_extra, p_other.status, p_other.schema_version,
            p_other.attributes_flat, p_other.private, p_other.create_before_destroy,
            p_other.identity_schema_version, p_other.extra
        )
        and kl_internal.same_json(p_one.attributes, p_other.attributes, p_one.escaped)
        and kl_internal.same_json(p_one.identity, p_other.identity, p_one.escaped)
        and kl_internal.canonical_set(p_one.sensitive_attributes)
            is not distinct from kl_internal.canonical_set(p_other.sensitive_attributes)
        and (
            p_one.dependency_set_id is not distinct from p_other.dependency_set_id
            or kl_internal.same_dependencies(p_one.dependency_set_id, p_other.dependency_set_id)
        );
$$;

comment on function kl_internal.same_object(kl_internal.resources, kl_internal.resources) is
'Whether two contents of one object are equal as JSON values.';
