-- requires: upload/_refuse_object
create or replace function kl_internal.checked_version(
    p_address text,
    p_member  text,
    p_value   jsonb
)
returns numeric
language sql
stable
as $$
    select case
        when p_value is null or p_value = 'null' then null
        when pg_catalog.jsonb_typeof(p_value) = 'number'
            and p_value::pg_catalog.numeric between 0 and 18446744073709551615
            and pg_catalog.scale(p_value::pg_catalog.numeric) = 0 then
            p_value::pg_catalog.numeric
        else kl_internal.refuse_object(
            p_address, p_member, 'must be a whole number from 0 to 2^64-1'
        )::pg_catalog.numeric
    end;
$$;

comment on function kl_internal.checked_version(text, text, jsonb) is
'A schema version member as a number; null when absent. Inlined.

Raises: KL001.';
