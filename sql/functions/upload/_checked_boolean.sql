-- requires: upload/_refuse_object
create or replace function kl_internal.checked_boolean(
    p_address text,
    p_member  text,
    p_value   jsonb
)
returns boolean
language sql
stable
as $$
    select case
        when p_value is null or p_value = 'null' then null
        when pg_catalog.jsonb_typeof(p_value) = 'boolean' then p_value::boolean
        else kl_internal.refuse_object(p_address, p_member, 'must be true or false')::boolean
    end;
$$;

comment on function kl_internal.checked_boolean(text, text, jsonb) is
'A member that is true, false, null or absent (null for both). Inlined.

Raises: KL001.';
