create or replace function kl.cache_provider_schema(
    p_upload_id uuid,
    p_source    text,
    p_version   text,
    p_protocol  integer,
    p_provider  jsonb
)
returns bigint
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_id    bigint;
    v_count bigint;
begin
    -- Every environment goes by the same cache, also in what it masks.
    perform kl_internal.authorize_everywhere('state:write');

    insert into kl_internal.provider_schemas (source, version, protocol, provider, fetched_at)
    values (p_source, p_version, p_protocol, p_provider, kl_internal.clock())
    on conflict (source, version) do nothing
    returning id into v_id;

    if v_id is not null then
        insert into kl_internal.provider_resource_schemas (provider_schema_id, type, schema)
        select v_id, s.type, convert_from(s.schema, 'UTF8')::jsonb
        from kl_internal.staged_schemas as s
        where s.upload_id = p_upload_id;
        get diagnostics v_count = row_count;

        insert into kl_internal.sensitive_types as t (type, patterns)
        select
            r.type,
            case
                when r.schema @? '$.**.sensitive' then
                    kl_internal.sensitive_patterns(r.schema -> 'block')
                else '[]'
            end
        from kl_internal.provider_resource_schemas as r
        where r.provider_schema_id = v_id
        on conflict (type) do update
        set patterns = t.patterns || excluded.patterns
        where not t.patterns @> excluded.patterns;
    end if;

    delete from kl_internal.staged_schemas as s
    where s.upload_id = p_upload_id;
    return coalesce(v_count, 0);
end;
$$;

comment on function kl.cache_provider_schema(uuid, text, text, integer, jsonb) is
'Keep a provider''s schema and its staged resource types; returns how many, 0 when it was there.

Locks: none. Raises: KL101, KL102. Callers: CLI.';
