-- requires: address/_bounded_text, address/_escaped_text, address/_integer_path
create or replace function kl_internal.instance_key_path(p_index_key jsonb, p_escaped boolean)
returns text
language sql
immutable
parallel safe
as $$
    -- No key, then integers by value, then strings by code point.
    select case pg_catalog.jsonb_typeof(p_index_key)
        when 'number' then
            E'\x03' || case
                when p_index_key >= '0'
                    and p_index_key < '10000000000'
                    and pg_catalog.octet_length(p_index_key::text) <= 10
                    and pg_catalog.strpos(p_index_key::text, '.') = 0 then
                    pg_catalog.lpad(p_index_key::text, 20, '0')
                else kl_internal.integer_path(p_index_key::pg_catalog.numeric)
            end || E'\x01'
        when 'string' then
            E'\x04' || kl_internal.bounded_text(
                kl_internal.escaped_text(p_index_key #>> '{}', p_escaped)
            ) || E'\x01'
        else E'\x02'
    end;
$$;

comment on function kl_internal.instance_key_path(jsonb, boolean) is
'The path form of an instance key, in document order. Inlined.';
