create or replace function kl_internal.masked_pattern(p_value jsonb, p_pattern jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_step text := p_pattern ->> 0;
    v_rest jsonb := p_pattern - 0;
begin
    if p_value is null or p_value = 'null' then
        return p_value;
    end if;

    if v_step is null then
        return '"(sensitive value)"'::jsonb;
    end if;

    if v_step = '*' and jsonb_typeof(p_value) = 'array' then
        return (
            select coalesce(
                jsonb_agg(kl_internal.masked_pattern(e.value, v_rest) order by e.position), '[]'
            )
            from jsonb_array_elements(p_value) with ordinality as e (value, position)
        );
    end if;

    if v_step = '*' and jsonb_typeof(p_value) = 'object' then
        return (
            select coalesce(
                jsonb_object_agg(m.name, kl_internal.masked_pattern(m.value, v_rest)), '{}'
            )
            from jsonb_each(p_value) as m (name, value)
        );
    end if;

    if jsonb_typeof(p_value) = 'object' and p_value ? v_step then
        return jsonb_set(
            p_value, array[v_step], kl_internal.masked_pattern(p_value -> v_step, v_rest)
        );
    end if;

    -- Another shape than the schema's: rather all of it than a secret. Nothing there: nothing.
    return case
        when jsonb_typeof(p_value) = 'object' then p_value
        else '"(sensitive value)"'
    end;
end;
$$;

comment on function kl_internal.masked_pattern(jsonb, jsonb) is
'A JSON value with what a pattern leads to masked (kl_internal.sensitive_patterns).';
