create or replace function kl_internal.dependency_list(p_dependencies bytea)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_list jsonb := kl_internal.escaped_jsonb(convert_from(p_dependencies, 'UTF8'));
begin
    if jsonb_typeof(v_list) <> 'array' or v_list @? '$[*] ? (@.type() != "string")' then
        raise exception using
            errcode = 'KL001',
            message = 'dependencies is not a list of addresses: '
                || left(convert_from(p_dependencies, 'UTF8'), 200),
            detail = jsonb_build_object('member', 'dependencies')::text;
    end if;

    return coalesce(
        (
            select array_agg(d.dependency order by d.position)
            from jsonb_array_elements_text(v_list) with ordinality as d (dependency, position)
        ),
        '{}'
    );
end;
$$;

comment on function kl_internal.dependency_list(bytea) is
'A dependencies member as a list of texts, in the order it came.

Raises: KL001.';
