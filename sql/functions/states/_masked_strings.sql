create or replace function kl_internal.masked_strings(p_value jsonb)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    return case jsonb_typeof(p_value)
        when 'string' then '"(sensitive value)"'
        when 'array' then (
            select coalesce(
                jsonb_agg(kl_internal.masked_strings(e.value) order by e.position), '[]'
            )
            from jsonb_array_elements(p_value) with ordinality as e (value, position)
        )
        when 'object' then (
            select coalesce(jsonb_object_agg(m.name, kl_internal.masked_strings(m.value)), '{}')
            from jsonb_each(p_value) as m (name, value)
        )
        else p_value
    end;
end;
$$;

comment on function kl_internal.masked_strings(jsonb) is
'A JSON value with every string in it masked; names, numbers, booleans and nulls stay.';
