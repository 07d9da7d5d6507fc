create or replace function kl_internal.conforms(p_value jsonb, p_type jsonb)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_kind text := coalesce(p_type ->> 0, p_type #>> '{}');
begin
    if p_value = 'null' then
        return true;
    end if;

    -- Read as leniently as Terraform does: a number may stand as text, and the reverse.
    case v_kind
        when 'dynamic' then
            return jsonb_typeof(p_value) = 'object'
                and p_value ?& array['value', 'type']
                and p_value - array['value', 'type'] = '{}'
                and kl_internal.is_type(p_value -> 'type')
                and kl_internal.conforms(p_value -> 'value', p_value -> 'type');
        when 'string' then
            return jsonb_typeof(p_value) in ('string', 'number', 'boolean');
        when 'number' then
            return jsonb_typeof(p_value) = 'number'
                or (
                    jsonb_typeof(p_value) = 'string'
                    and p_value #>> '{}'
                        ~ ('^' || chr(64976) || '?n?[-+]?[0-9.]+([eE][-+]?[0-9]+)?$')
                );
        when 'bool' then
            return p_value in ('true', 'false', '"true"', '"false"', '"1"', '"0"');
        when 'list', 'set' then
            return jsonb_typeof(p_value) = 'array'
                and not exists (
                    select
                    from jsonb_array_elements(p_value) as e (value)
                    where not kl_internal.conforms(e.value, p_type -> 1)
                );
        when 'map' then
            return jsonb_typeof(p_value) = 'object'
                and not exists (
                    select
                    from jsonb_each(p_value) as e (name, value)
                    where not kl_internal.conforms(e.value, p_type -> 1)
                );
        when 'tuple' then
            return jsonb_typeof(p_value) = 'array'
                and jsonb_array_length(p_value) = jsonb_array_length(p_type -> 1)
                and not exists (
                    select
                    from jsonb_array_elements(p_value) with ordinality as e (value, position)
                    where not kl_internal.conforms(
                        e.value, p_type -> 1 -> (e.position::integer - 1)
                    )
                );
        when 'object' then
            return jsonb_typeof(p_value) = 'object'
                and not exists (
                    select
                    from jsonb_each(p_value) as e (name, value)
                    where not p_type -> 1 ? e.name
                        or not kl_internal.conforms(e.value, p_type -> 1 -> e.name)
                );
        else
            return false;
    end case;
end;
$$;

comment on function kl_internal.conforms(jsonb, jsonb) is
'Whether an output''s value can be read as its type.';
