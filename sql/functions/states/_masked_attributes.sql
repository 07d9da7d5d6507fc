create or replace function kl_internal.masked_attributes(p_attributes jsonb, p_paths jsonb)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_masked jsonb := p_attributes;
    v_path   text[];
begin
    if p_paths is null or p_paths = '[]' or jsonb_typeof(p_paths) <> 'array' then
        return p_attributes;
    end if;

    for v_path in
        select (
            select array_agg(
                case s.step ->> 'type'
                    when 'get_attr' then s.step ->> 'value'
                    else s.step #>> '{value,value}'
                end
                order by s.step_no
            )
            from jsonb_array_elements(p.path) with ordinality as s (step, step_no)
        )
        from jsonb_array_elements(p_paths) as p (path)
        order by jsonb_array_length(p.path)
    loop
        -- A path that leads nowhere masks what it reaches: the value is there in another shape.
        while v_path <> '{}' and v_masked #> v_path is null loop
            v_path := v_path[:cardinality(v_path) - 1];
        end loop;
        if v_path = '{}' or v_path is null then
            continue;
        end if;
        if v_masked #> v_path <> 'null' then
            v_masked := jsonb_set(v_masked, v_path, '"(sensitive value)"');
        end if;
    end loop;

    return v_masked;
end;
$$;

comment on function kl_internal.masked_attributes(jsonb, jsonb) is
'Attributes with everything under the paths of sensitive_attributes replaced.

A null stays null. A path into what is not there masks the nearest value above it.';
