create or replace function kl.provider_schema(p_source text, p_version text)
returns table (protocol integer, provider jsonb)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform kl_internal.authorize('state:read');

    return query
    select s.protocol, s.provider
    from kl_internal.provider_schemas as s
    where s.source = p_source
        and s.version = p_version;
end;
$$;

comment on function kl.provider_schema(text, text) is
'The cached schema of a provider''s own configuration; no row when that version is not cached.

p_source: HOST/NAMESPACE/TYPE.
Locks: none. Raises: KL101, KL102. Callers: CLI.';
