-- requires: json/_staged_json
-- requires: upload/_checked_paths
-- requires: upload/_checked_version
-- requires: upload/_odd_members
-- requires: upload/_refuse_object
create or replace function kl_internal.parsed_objects(p_upload_id uuid)
returns table (
    ordinal                  integer,
    path                     text,
    body                     jsonb,
    attributes               json,
    status                   text,
    instance_provider        text,
    schema_version           numeric,
    attributes_flat          jsonb,
    sensitive_attributes     jsonb,
    private                  text,
    create_before_destroy    boolean,
    identity                 json,
    identity_schema_version  numeric,
    extra                    jsonb
)
language sql
stable
as $$
    -- A member whose value no column can show (a null, for most) stays in extra as it came.
    select
        u.ordinal,
        u.path,
        b.body,
        pg_catalog.convert_from(s.attributes, 'UTF8')::json,
        case
            when b.body ->> 'status' is null or b.body ->> 'status' in ('', 'tainted') then
                b.body ->> 'status'
            else kl_internal.refuse_object(
                u.address, 'status', (b.body -> 'status')::text || ' must be "tainted" or absent'
            )
        end,
        case
            when b.body ->> 'provider' is null and u.provider is null then
                kl_internal.refuse_object(
                    u.address,
                    'provider',
                    'is missing; Terraform would drop the resource without a word'
                )
            else b.body ->> 'provider'
        end,
        kl_internal.checked_version(u.address, 'schema_version', b.body -> 'schema_version'),
        case
            when pg_catalog.jsonb_typeof(b.body -> 'attributes_flat') = 'object' then
                b.body -> 'attributes_flat'
            when pg_catalog.jsonb_typeof(b.body -> 'attributes_flat') <> 'null' then
                kl_internal.refuse_object(u.address, 'attributes_flat', 'must be an object')::jsonb
        end,
        case
            when b.body -> 'sensitive_attributes' = '[]' then '[]'
            else kl_internal.checked_paths(u.address, b.body -> 'sensitive_attributes')
        end,
        case
            when b.body ->> 'private' is null
                or b.body ->> 'private'
                    ~ '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'
                then b.body ->> 'private'
            else kl_internal.refuse_object(u.address, 'private', 'is not base64')
        end,
        case pg_catalog.jsonb_typeof(b.body -> 'create_before_destroy')
            when 'boolean' then (b.body -> 'create_before_destroy')::boolean
            when 'null' then null
            else case
                when b.body ? 'create_before_destroy' then kl_internal.refuse_object(
                    u.address, 'create_before_destroy', 'must be true or false'
                )::boolean
            end
        end,
        pg_catalog.convert_from(s.identity, 'UTF8')::json,
        kl_internal.checked_version(
            u.address, 'identity_schema_version', b.body -> 'identity_schema_version'
        ),
        nullif(
            b.body - array[
                'index_key', 'status', 'deposed', 'provider', 'schema_version', 'attributes',
                'attributes_flat', 'sensitive_attributes', 'private', 'dependencies',
                'create_before_destroy', 'identity', 'identity_schema_version'
            ]
                || case
                    when b.body <> pg_catalog.jsonb_strip_nulls(b.body)
                        or b.body ->> 'deposed' = ''
                        or b.body -> 'dependencies' = '[]' then
                        kl_internal.odd_members(b.body)
                    else '{}'
                end,
            '{}'
        )
    from kl_internal.upload_objects as u
    inner join kl_internal.staged_slices as s
        on s.upload_id = u.upload_id
        and s.kind = 'resource'
        and s.ordinal = u.ordinal
    cross join lateral (
        select kl_internal.staged_json(s.slice, u.escaped) as body
        offset 0
    ) as b
    where u.upload_id = p_upload_id
        and not u.unchanged;
$$;

comment on function kl_internal.parsed_objects(uuid) is
'The staged objects of upload_objects, parsed into the columns of resources. Inlined.

Raises: KL001 (naming the address and the member).';
