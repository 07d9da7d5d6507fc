-- requires: json/_null_members
create or replace function kl_internal.odd_members(p_object jsonb)
returns jsonb
language sql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select kl_internal.null_members(
        p_object,
        array[
            'index_key', 'status', 'deposed', 'provider', 'schema_version', 'attributes_flat',
            'private', 'dependencies', 'create_before_destroy', 'identity_schema_version'
        ]
    )
        || case when p_object ->> 'deposed' = '' then '{"deposed": ""}'::jsonb else '{}' end
        || case
            when p_object -> 'dependencies' = '[]' then '{"dependencies": []}'::jsonb
            else '{}'
        end;
$$;

comment on function kl_internal.odd_members(jsonb) is
'The known members of an instance object whose value its column cannot show: they stay in extra.';
