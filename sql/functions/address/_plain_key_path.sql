create or replace function kl_internal.plain_key_path(p_key text)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when p_key = '' then E'\x02'
        when p_key ~ '^\[(0|[1-9][0-9]{0,8})]$' then
            E'\x03' || pg_catalog.lpad(pg_catalog.btrim(p_key, '[]'), 20, '0') || E'\x01'
        when p_key ~ '^\["[^]["]*"]$' then
            E'\x04' || pg_catalog.btrim(p_key, '["]') || E'\x01'
    end;
$$;

comment on function kl_internal.plain_key_path(text) is
'kl_internal.instance_key_path for a key of a plain address, with its brackets; null for any other.

Inlined.';
