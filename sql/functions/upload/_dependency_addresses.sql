create or replace function kl_internal.dependency_addresses(p_dependencies jsonb)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if jsonb_typeof(p_dependencies) <> 'array'
        or p_dependencies @? '$[*] ? (@.type() != "string")' then
        raise exception using
            errcode = 'KL001',
            message = 'dependencies is not a list of addresses: '
                || left(p_dependencies::text, 200),
            detail = jsonb_build_object('member', 'dependencies')::text;
    end if;

    return array(
        select d.dependency
        from jsonb_array_elements_text(p_dependencies) with ordinality as d (dependency, position)
        order by d.position
    );
end;
$$;

comment on function kl_internal.dependency_addresses(jsonb) is
'A dependencies member as a list of texts, in the order it came.

Raises: KL001.';
