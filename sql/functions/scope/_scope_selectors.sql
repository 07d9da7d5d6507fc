-- requires: scope/_json_member, scope/_json_objects
create or replace function kl_internal.scope_selectors(p_selectors jsonb)
returns table (kind text, value text)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_kinds constant text[] := array['resource_address', 'module_prefix', 'file_hint'];
    v_pointer text;
begin
    select s.pointer
    into v_pointer
    from kl_internal.json_objects(p_selectors, '/selectors') as s
    where not coalesce(
        kl_internal.json_member(s.value, 'kind', 'string', s.pointer) #>> '{}' = any (v_kinds)
            and kl_internal.json_member(s.value, 'value', 'string', s.pointer) #>> '{}' ~ '\S',
        false
    )
    limit 1;

    if found then
        raise exception using
            errcode = 'KL001',
            message = format(
                'the selector at %s is not understood: kind is one of %s, value says which',
                v_pointer,
                array_to_string(v_kinds, ', ')
            ),
            detail = jsonb_build_object('pointer', v_pointer, 'kinds', to_jsonb(v_kinds))::text;
    end if;

    return query
    select s.value ->> 'kind', s.value ->> 'value'
    from kl_internal.json_objects(p_selectors, '/selectors') as s;
end;
$$;

comment on function kl_internal.scope_selectors(jsonb) is
'The selectors of a request.

Raises: KL001 (an unknown kind, no value).';
