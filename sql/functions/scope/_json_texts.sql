create or replace function kl_internal.json_texts(p_list jsonb, p_pointer text)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if coalesce(jsonb_typeof(p_list), 'null') = 'null' then
        return '{}'::text[];
    end if;

    if jsonb_typeof(p_list) <> 'array' or p_list @? '$[*] ? (@.type() != "string")' then
        raise exception using
            errcode = 'KL001',
            message = format('the request is wrong at %s: it is not a list of texts', p_pointer),
            detail = jsonb_build_object('pointer', p_pointer)::text;
    end if;

    return array(
        select t.value
        from jsonb_array_elements_text(p_list) with ordinality as t (value, position)
        order by t.position
    );
end;
$$;

comment on function kl_internal.json_texts(jsonb, text) is
'A member of a request that is a list of texts; left out or null, it is empty.

p_pointer: where it stands. Raises: KL001.';
