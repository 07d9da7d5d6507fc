-- requires: json/_json_number, upload/_checked_boolean, upload/_checked_paths
-- requires: upload/_checked_private, upload/_checked_version, upload/_odd_members
-- requires: upload/_refuse_object
create or replace function kl_internal.object_columns(
    p_address  text,
    p_provider text,
    p_body     jsonb
)
returns table (
    instance_provider        text,
    status                   text,
    schema_version           numeric,
    attributes_flat          jsonb,
    sensitive_attributes     jsonb,
    private                  text,
    create_before_destroy    boolean,
    identity_schema_version  numeric,
    extra                    jsonb
)
language sql
stable
as $$
    -- A member whose value no column can show (a null, for most) stays in extra as it came.
    select
        case
            when p_body is not null and p_body ->> 'provider' is null and p_provider is null then
                kl_internal.refuse_object(
                    p_address,
                    'provider',
                    'is missing; Terraform would drop the resource without a word'
                )
            else p_body ->> 'provider'
        end,
        case
            when p_body ->> 'status' is null or p_body ->> 'status' in ('', 'tainted') then
                p_body ->> 'status'
            else kl_internal.refuse_object(
                p_address, 'status', (p_body -> 'status')::text || ' must be "tainted" or absent'
            )
        end,
        kl_internal.checked_version(
            p_address, 'schema_version', p_body -> 'schema_version', n.schema_version
        ),
        case
            when pg_catalog.jsonb_typeof(p_body -> 'attributes_flat') = 'object'
                and not pg_catalog.jsonb_path_exists(
                    p_body -> 'attributes_flat',
                    'strict $.* ? (@.type() != "string" && @.type() != "null")'
                ) then
                p_body -> 'attributes_flat'
            when pg_catalog.jsonb_typeof(p_body -> 'attributes_flat') <> 'null' then
                kl_internal.refuse_object(
                    p_address, 'attributes_flat', 'must be an object of texts'
                )::jsonb
        end,
        case
            when p_body -> 'sensitive_attributes' = '[]' then '[]'
            else kl_internal.checked_paths(p_address, p_body -> 'sensitive_attributes')
        end,
        kl_internal.checked_private(p_address, p_body ->> 'private'),
        kl_internal.checked_boolean(
            p_address, 'create_before_destroy', p_body -> 'create_before_destroy'
        ),
        kl_internal.checked_version(
            p_address,
            'identity_schema_version',
            p_body -> 'identity_schema_version',
            n.identity_schema_version
        ),
        nullif(
            p_body - array[
                'index_key', 'status', 'deposed', 'provider', 'schema_version', 'attributes',
                'attributes_flat', 'sensitive_attributes', 'private', 'dependencies',
                'create_before_destroy', 'identity', 'identity_schema_version'
            ]
                || case
                    when p_body @? '$.* ? (@ == null)'
                        or p_body ->> 'deposed' = ''
                        or p_body -> 'dependencies' = '[]' then
                        kl_internal.odd_members(p_body)
                    else '{}'
                end,
            '{}'
        )
    from (
        select
            kl_internal.json_number(p_body -> 'schema_version') as schema_version,
            kl_internal.json_number(p_body -> 'identity_schema_version') as identity_schema_version
        offset 0
    ) as n
    offset 0;
$$;

comment on function kl_internal.object_columns(text, text, jsonb) is
'An instance object taken apart into columns of resources, checked. Inlined.

p_provider: its resource''s. Raises: KL001 (naming the address and the member).';
