create or replace function kl_internal.dependency_digest(p_addresses text[])
returns bytea
language sql
stable  -- as convert_to is: otherwise it would not be inlined
parallel safe
as $$
    select pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.to_json(p_addresses)::text, 'UTF8'));
$$;

comment on function kl_internal.dependency_digest(text[]) is
'SHA-256 of a dependencies list, the key it is stored once by. Inlined.';
