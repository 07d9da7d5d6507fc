create or replace function kl_internal.glob_path(p_glob text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_bare text := regexp_replace(p_glob, '"(?:[^"\\]|\\.)*"', '""', 'g');
begin
    if btrim(p_glob) = '*' then
        return '';
    end if;

    -- Nothing but module steps, and ".*" for what is below them.
    if v_bare ~ ('^\s*module\s*\.\s*[^\s.\[\]"\\*]+\s*(?:\[[^\]*]*\]\s*)?'
            || '(?:\.\s*module\s*\.\s*[^\s.\[\]"\\*]+\s*(?:\[[^\]*]*\]\s*)?)*(?:\.\s*\*\s*)?$') then
        return (
            select m.module_path
            from kl_internal.parse_module(regexp_replace(p_glob, '\.\s*\*\s*$', '')) as m
        );
    end if;

    if strpos(v_bare, '*') > 0 then
        raise exception using
            errcode = 'KL001',
            message = format(
                '%s has a wildcard: only "*" for all, and ".*" after a module, can be reserved',
                to_json(left(p_glob, 400))
            ),
            detail = jsonb_build_object('address_glob', left(p_glob, 4000))::text;
    end if;

    return (
        select a.path
        from kl_internal.parse_address(p_glob) as a
    );
end;
$$;

comment on function kl_internal.glob_path(text) is
'The path that an address_glob names: of a module, a resource, an instance; empty for "*".

Raises: KL001.';
