-- requires: upload/_refuse_object
create or replace function kl_internal.checked_version(
    p_address text,
    p_member  text,
    p_value   jsonb,
    p_number  numeric
)
returns numeric
language sql
stable
as $$
    select case
        when p_value is null or p_value = 'null' then null
        when p_number between 0 and 18446744073709551615
            and pg_catalog.scale(p_number) = 0 then
            p_number
        else kl_internal.refuse_object(
            p_address, p_member, 'must be a whole number from 0 to 2^64-1'
        )::pg_catalog.numeric
    end;
$$;

comment on function kl_internal.checked_version(text, text, jsonb, numeric) is
'A schema version member as a number; null when absent. Inlined.

p_number: p_value as a number, if it is one (kl_internal.json_number).

Raises: KL001.';
