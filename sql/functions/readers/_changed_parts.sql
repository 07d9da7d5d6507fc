-- requires: json/_same_json, states/_objects.view
create or replace function kl_internal.changed_parts(
    p_old kl_internal.objects,
    p_new kl_internal.objects
)
returns text[]
language sql
immutable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $$
    select array_remove(
        array[
            case
                when not kl_internal.same_json(
                    p_old.attributes, p_new.attributes, p_old.escaped or p_new.escaped
                )
                    or p_old.attributes_flat is distinct from p_new.attributes_flat then
                    'attributes'
            end,
            case when p_old.status is distinct from p_new.status then 'tainted' end,
            case
                when p_old.provider is distinct from p_new.provider
                    or p_old.instance_provider is distinct from p_new.instance_provider then
                    'provider'
            end,
            case
                when p_old.schema_version is distinct from p_new.schema_version then
                    'schema_version'
            end,
            case
                when p_old.sensitive_attributes is distinct from p_new.sensitive_attributes then
                    'sensitive_attributes'
            end,
            case
                when p_old.dependency_set_id is distinct from p_new.dependency_set_id then
                    'dependencies'
            end,
            case
                when p_old.create_before_destroy is distinct from p_new.create_before_destroy then
                    'create_before_destroy'
            end,
            case when p_old.private is distinct from p_new.private then 'private' end,
            case
                when not kl_internal.same_json(
                    p_old.identity, p_new.identity, p_old.escaped or p_new.escaped
                )
                    or p_old.identity_schema_version is distinct from p_new.identity_schema_version
                    then 'identity'
            end,
            case
                when p_old.extra is distinct from p_new.extra
                    or p_old.resource_extra is distinct from p_new.resource_extra then
                    'extra'
            end
        ],
        null
    );
$$;

comment on function kl_internal.changed_parts(kl_internal.objects, kl_internal.objects) is
'Which parts of an object differ between two contents of it; of some, analysts see no more.

Definer: a view calls it as its reader.';
