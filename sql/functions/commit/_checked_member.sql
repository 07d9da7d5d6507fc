create or replace function kl_internal.checked_member(
    p_object  json,
    p_name    text,
    p_type    text,
    p_pointer text
)
returns json
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_value json := p_object -> p_name;
begin
    if coalesce(json_typeof(v_value), 'null') = 'null' then
        return null;
    end if;

    if json_typeof(v_value) <> p_type then
        perform kl_internal.refuse_member(
            p_pointer || '/' || p_name, 'must be of type ' || p_type
        );
    end if;

    return v_value;
end;
$$;

comment on function kl_internal.checked_member(json, text, text, text) is
'A member of a JSON object, which must have that type; null when it is absent or null.

Raises: KL001.';
