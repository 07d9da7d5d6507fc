create or replace function kl_internal.json_objects(p_list jsonb, p_pointer text)
returns table (value jsonb, pointer text)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    if coalesce(jsonb_typeof(p_list), 'null') = 'null' then
        return;
    end if;

    if jsonb_typeof(p_list) <> 'array' or p_list @? '$[*] ? (@.type() != "object")' then
        raise exception using
            errcode = 'KL001',
            message = format('the request is wrong at %s: it is not a list of objects', p_pointer),
            detail = jsonb_build_object('pointer', p_pointer)::text;
    end if;

    return query
    select o.value, p_pointer || '/' || (o.position - 1)
    from jsonb_array_elements(p_list) with ordinality as o (value, position)
    order by o.position;
end;
$$;

comment on function kl_internal.json_objects(jsonb, text) is
'A member of a request that is a list of objects, each with its JSON pointer; none when left out.

p_pointer: where it stands. Raises: KL001.';
