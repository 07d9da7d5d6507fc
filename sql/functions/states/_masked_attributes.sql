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
    v_depth  integer;
    v_step   jsonb;
    v_plain  boolean;
begin
    if p_paths is null or p_paths = '[]' or jsonb_typeof(p_paths) <> 'array'
        or jsonb_typeof(p_attributes) <> 'object' then
        return p_attributes;
    end if;

    -- Most lists name whole attributes only. Views mask row by row: no query for those.
    for v_no in 0 .. jsonb_array_length(p_paths) - 1 loop
        v_step := p_paths -> v_no -> 0;
        v_plain := jsonb_array_length(p_paths -> v_no) = 1 and v_step ->> 'type' = 'get_attr';
        exit when v_plain is not true;
        if v_masked -> (v_step ->> 'value') <> 'null' then
            v_masked := jsonb_set(
                v_masked, array[v_step ->> 'value'], '"(sensitive value)"'
            );
        end if;
    end loop;
    if v_plain then
        return v_masked;
    end if;

    for v_path in
        select coalesce(
            (
                select array_agg(
                    case s.step ->> 'type'
                        when 'get_attr' then s.step ->> 'value'
                        else s.step #>> '{value,value}'
                    end
                    order by s.step_no
                )
                from jsonb_array_elements(p.path) with ordinality as s (step, step_no)
            ),
            '{}'
        )
        from jsonb_array_elements(p_paths) as p (path)
        order by jsonb_array_length(p.path)
    loop
        if v_path = '{}' then
            -- No step at all: everything is sensitive.
            return (
                select coalesce(jsonb_object_agg(k.name, '"(sensitive value)"'::jsonb), '{}')
                from jsonb_object_keys(p_attributes) as k (name)
            );
        end if;

        -- Where a path leads nowhere the value is there in another shape, as in a set, or beside
        -- its type ({"value", "type"}), which the path does not count: mask from there down.
        v_depth := 1;
        while v_depth < cardinality(v_path)
            and v_masked #> v_path[:v_depth + 1] is not null
            and not v_masked #> v_path[:v_depth] ?& array['value', 'type'] loop
            v_depth := v_depth + 1;
        end loop;

        if v_masked #> v_path[:v_depth] <> 'null' then
            v_masked := jsonb_set(v_masked, v_path[:v_depth], '"(sensitive value)"');
        end if;
    end loop;

    return v_masked;
end;
$$;

comment on function kl_internal.masked_attributes(jsonb, jsonb) is
'Attributes with everything under the paths of sensitive_attributes replaced.

A null stays null. A path into what is not there masks the nearest value above it; the empty path
masks everything.';
