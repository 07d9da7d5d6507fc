create or replace function kl.resource_schemas(p_source text, p_version text, p_types text[])
returns table (type text, schema jsonb)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform kl_internal.authorize('state:read');

    return query
    select r.type, r.schema
    from kl_internal.provider_schemas as s
    inner join kl_internal.provider_resource_schemas as r on r.provider_schema_id = s.id
    where s.source = p_source
        and s.version = p_version
        and r.type = any (p_types);
end;
$$;

comment on function kl.resource_schemas(text, text, text[]) is
'The cached schemas of these resource types of a provider version; a type it lacks has no row.

Locks: none. Raises: KL101, KL102. Callers: CLI.';
