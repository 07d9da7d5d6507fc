create or replace function kl_internal.dependency_digest(p_addresses text[])
returns bytea
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select sha256(convert_to(to_json(p_addresses)::text, 'UTF8'));
$$;

comment on function kl_internal.dependency_digest(text[]) is
'SHA-256 of a dependencies list, the key it is stored once by.';
