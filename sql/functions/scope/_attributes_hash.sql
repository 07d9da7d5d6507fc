create or replace function kl_internal.attributes_hash(p_attributes text)
returns text
language sql
stable
strict
set search_path = pg_catalog, pg_temp
as $$
    select 'sha256:' || encode(
        sha256(k.outer_key || sha256(k.inner_key || convert_to(p_attributes, 'UTF8'))), 'hex'
    )
    from kl_internal.hash_keys as k;
$$;

comment on function kl_internal.attributes_hash(text) is
'A hash of attributes that only this installation can make (HMAC-SHA-256): equal attributes have
equal ones, and nobody can try passwords against it.';
