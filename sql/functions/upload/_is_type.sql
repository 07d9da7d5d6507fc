create or replace function kl_internal.is_type(p_type jsonb)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    case jsonb_typeof(p_type)
        when 'string' then
            return p_type #>> '{}' in ('string', 'number', 'bool', 'dynamic');
        when 'array' then
            null;
        else
            return false;
    end case;

    case p_type ->> 0
        when 'list', 'set', 'map' then
            return jsonb_array_length(p_type) = 2 and kl_internal.is_type(p_type -> 1);
        when 'tuple' then
            return jsonb_array_length(p_type) = 2
                and jsonb_typeof(p_type -> 1) = 'array'
                and not exists (
                    select
                    from jsonb_array_elements(p_type -> 1) as t (type)
                    where not kl_internal.is_type(t.type)
                );
        when 'object' then
            return jsonb_array_length(p_type) in (2, 3)
                and jsonb_typeof(p_type -> 1) = 'object'
                and not exists (
                    select
                    from jsonb_each(p_type -> 1) as t (name, type)
                    where not kl_internal.is_type(t.type)
                );
        else
            return false;
    end case;
end;
$$;

comment on function kl_internal.is_type(jsonb) is
'Whether a JSON value is a type as Terraform writes it: "string", ["list", T], ["object", {}] …';
