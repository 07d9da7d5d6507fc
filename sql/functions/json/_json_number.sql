create or replace function kl_internal.json_number(p_value jsonb)
returns numeric
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.jsonb_typeof(p_value) = 'number' then p_value::pg_catalog.numeric
    end;
$$;

comment on function kl_internal.json_number(jsonb) is
'A JSON number as a number; null for anything else. Inlined.';
