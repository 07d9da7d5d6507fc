-- requires: upload/_dependency_hash, upload/_object_hash
create or replace function kl_internal.resource_hash(
    p_path                    text,
    p_module                  text,
    p_index_key               text,
    p_provider                text,
    p_instance_provider       text,
    p_resource_extra          text,
    p_status                  text,
    p_schema_version          text,
    p_attributes              text,
    p_attributes_flat         text,
    p_sensitive_attributes    text,
    p_private                 text,
    p_dependency_set_id       text,
    p_create_before_destroy   text,
    p_identity                text,
    p_identity_schema_version text,
    p_extra                   text,
    p_escaped                 text
)
returns bigint
language sql
immutable
parallel safe
as $$
    select kl_internal.object_hash(array[
        p_path, p_module, p_index_key, p_provider, p_instance_provider, p_resource_extra, p_status,
        p_schema_version, p_attributes, p_attributes_flat, p_sensitive_attributes, p_private,
        p_create_before_destroy, p_identity, p_identity_schema_version, p_extra, p_escaped
    ]) # kl_internal.dependency_hash(p_dependency_set_id);
$$;

comment on function kl_internal.resource_hash(
    text, text, text, text, text, text, text, text, text, text, text, text, text, text, text, text,
    text, text
) is
'resources.content_hash from the columns of a row as texts. Inlined.

Who writes a row and who verifies it both call this.';
