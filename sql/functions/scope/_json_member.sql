create or replace function kl_internal.json_member(
    p_object  jsonb,
    p_member  text,
    p_type    text,
    p_pointer text
)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_value jsonb := nullif(p_object -> p_member, 'null');
begin
    if v_value is null or jsonb_typeof(v_value) = p_type then
        return v_value;
    end if;

    raise exception using
        errcode = 'KL001',
        message = format(
            'the request is wrong at %s/%s: it is not of type %s', p_pointer, p_member, p_type
        ),
        detail = jsonb_build_object('pointer', p_pointer || '/' || p_member)::text;
end;
$$;

comment on function kl_internal.json_member(jsonb, text, text, text) is
'A member of an object of a request, of the JSON type it must have; null when it is left out.

p_pointer: where the object stands. Raises: KL001.';
