create or replace function kl_internal.masked_remote_state(p_attributes jsonb)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_masked  jsonb := p_attributes;
    v_config  jsonb := p_attributes #> '{config,value}';
    v_address text;
begin
    if jsonb_typeof(p_attributes) <> 'object' then
        return p_attributes;
    end if;

    -- Another state's outputs: whether they are sensitive does not come along.
    v_masked := v_masked || (
        select coalesce(jsonb_object_agg(m.name, '"(sensitive value)"'::jsonb), '{}')
        from jsonb_each(p_attributes) as m (name, value)
        where m.name in ('outputs', 'defaults')
            and m.value <> 'null'
    );

    if jsonb_typeof(p_attributes -> 'config') is distinct from 'object' then
        return v_masked;
    end if;

    if jsonb_typeof(v_config) is distinct from 'object' then
        return jsonb_set(v_masked, '{config}', '"(sensitive value)"');
    end if;

    -- How to reach the other state: where it is stays, with what credentials does not.
    v_address := substring(v_config ->> 'address' from '^[^?#]*');
    return jsonb_set(
        v_masked,
        '{config,value}',
        kl_internal.masked_strings(v_config)
            || (
                select coalesce(jsonb_object_agg(m.name, m.value), '{}')
                from jsonb_each(v_config) as m (name, value)
                where m.name in (
                    'bucket', 'container_name', 'hostname', 'key', 'lock_method', 'organization',
                    'path', 'prefix', 'region', 'resource_group_name', 'storage_account_name',
                    'unlock_method', 'update_method', 'workspaces'
                )
            )
            || case
                when v_address is null then '{}'
                else jsonb_build_object(
                    'address', regexp_replace(v_address, '//[^/]*@', '//')
                )
            end
    );
end;
$$;

comment on function kl_internal.masked_remote_state(jsonb) is
'The attributes of a terraform_remote_state without the other state''s outputs and its credentials.

Of config stays where the other state is: address without user, password and query, bucket, key, …';
