create or replace function kl_internal.are_ordinary(p_members jsonb)
returns boolean
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
    -- Whatever passes a filter is counted: so what makes no sense to it does not. Filters look into
    -- lists, hence each type(), and what is seen to be objects first.
    select jsonb_path_exists(p_members, 'strict $[*] ? (@.type() != "object")') is false
        and jsonb_path_exists(
            p_members, 'strict $[*].instances[*] ? (@.type() != "object")', silent => true
        ) is false
        and jsonb_array_length(p_members) = jsonb_array_length(jsonb_path_query_array(
            p_members,
            '$[*] ? (
                @.mode.type() == "string" && (@.mode == "managed" || @.mode == "data")
                && @.type.type() == "string" && @.type like_regex "^\\w[\\w-]*$"
                && @.type != "module" && @.type != "data" && @.type != "resource"
                && @.name.type() == "string" && @.name like_regex "^\\w[\\w-]*$"
                && (!exists(@.module) || @.module.type() == "string")
                && @.provider.type() == "string" && @.provider like_regex
                    "^(module\\.[\\w-]+\\.)*provider\\[\"[\\w.-]+(/[\\w.-]+){0,2}\"](\\.[\\w-]+)?$"
                && @.instances.type() == "array"
            ).type()'
        ))
        and jsonb_array_length(
            jsonb_path_query_array(p_members, '$[*].instances[*].type()')
        ) = jsonb_array_length(jsonb_path_query_array(
            p_members,
            '$[*].instances[*] ? (
                @.attributes.type() == "object"
                && (!exists(@.schema_version) || (
                    @.schema_version.type() == "number"
                    && @.schema_version >= 0 && @.schema_version <= 18446744073709551615
                ))
                && (!exists(@.identity) || @.identity.type() == "object")
                && (!exists(@.identity_schema_version) || (
                    @.identity_schema_version.type() == "number"
                    && @.identity_schema_version >= 0
                    && @.identity_schema_version <= 18446744073709551615
                ))
                && (!exists(@.index_key)
                    || @.index_key.type() == "number" || @.index_key.type() == "string")
                && (!exists(@.deposed)
                    || (@.deposed.type() == "string" && @.deposed like_regex "^\\w{8}$"))
                && (!exists(@.status)
                    || (@.status.type() == "string" && @.status == "tainted"))
                && (!exists(@.private) || (
                    @.private.type() == "string" && @.private like_regex
                        "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
                ))
                && (!exists(@.dependencies)
                    || (@.dependencies.type() == "array" && @.dependencies.size() > 0))
                && (!exists(@.sensitive_attributes)
                    || @.sensitive_attributes.type() == "array")
                && (!exists(@.create_before_destroy)
                    || @.create_before_destroy.type() == "boolean")
                && !exists(@.attributes_flat) && !exists(@.provider)
            ).type()'
        ))
        -- 1.0 is no whole number to Terraform.
        and strpos(
            jsonb_path_query_array(p_members, '$[*].instances[*].schema_version')::text
                || jsonb_path_query_array(
                    p_members, '$[*].instances[*].identity_schema_version'
                )::text,
            '.'
        ) = 0;
$$;

comment on function kl_internal.are_ordinary(jsonb) is
'Whether all of a list of resources is as Terraform writes it: then it can be stored.

What it does not know may still be right: old forms, nulls, names with marks. Members of other names
do not count. Sensitive paths, dependencies and module addresses are not looked into.';
