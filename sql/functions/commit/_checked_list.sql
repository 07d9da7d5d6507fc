create or replace function kl_internal.checked_list(p_list json, p_pointer text, p_mark text)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_list text[];
    v_odd  bigint;
begin
    if p_list is null or p_list::text in ('[]', 'null') then
        return array[]::text[];
    end if;

    if json_typeof(p_list) <> 'array' then
        perform kl_internal.refuse_member(p_pointer, 'must be a list of texts');
    end if;

    select
        coalesce(array_agg(e.element #>> '{}' order by e.position), '{}'),
        min(e.position - 1) filter (where json_typeof(e.element) <> 'string')
    into v_list, v_odd
    from json_array_elements(p_list) with ordinality as e (element, position);

    if v_odd is not null then
        perform kl_internal.refuse_member(p_pointer || '/' || v_odd, 'must be a text');
    end if;

    if p_mark is null then
        return v_list;
    end if;

    return array(
        select replace(replace(l.element, p_mark || 'b', '\'), p_mark, '\u')
        from unnest(v_list) with ordinality as l (element, position)
        order by l.position
    );
end;
$$;

comment on function kl_internal.checked_list(json, text, text) is
'A member that is a list of texts, empty when it is absent or null.

p_pointer: where it stands; p_mark: as kl_internal.mask_escapes had it. Raises: KL001.';
