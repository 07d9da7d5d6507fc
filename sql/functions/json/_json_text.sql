-- requires: json/_unescape_json
create or replace function kl_internal.json_text(p_value jsonb, p_escaped boolean)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when p_escaped then kl_internal.unescape_json(p_value::text)
        else p_value::text
    end;
$$;

comment on function kl_internal.json_text(jsonb, boolean) is
'A stored JSON value as the JSON text it came as. Inlined.';
