create or replace function kl_internal.parse_dependency(p_dependency text)
returns text
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_parts  text[];
begin
    if p_dependency ~ '^(module\.[^\s.\[\]"\\]+\.)*(data\.)?[^\s.\[\]"\\]+\.[^\s.\[\]"\\]+$'
        and p_dependency !~ '^(module\.[^\s.\[\]"\\]+\.)*(module|data)\.[^.]+$' then
        return p_dependency;
    end if;

    -- A module path, possibly keyed, then [data.]TYPE.NAME without a key.
    v_parts := regexp_match(
        p_dependency,
        '^\s*((?:module\s*\.\s*[^\s.\[\]"\\]+\s*(?:\[\s*(?:\d+|"(?:[^"\\]|\\.)*")\s*\]\s*)?\.)*)'
            || '\s*(?:(data|resource)\s*\.)?\s*([^\s.\[\]"\\]+)\s*\.\s*([^\s.\[\]"\\]+)\s*$'
    );
    if v_parts is null or v_parts[2] is null and v_parts[3] in ('module', 'data') then
        raise exception using
            errcode = 'KL001',
            message = format(
                '%s in dependencies is not a resource address; it names a resource without its key',
                to_json(p_dependency)
            ),
            detail = jsonb_build_object('dependency', p_dependency)::text;
    end if;

    return concat_ws(
        '.',
        nullif((kl_internal.parse_module(rtrim(v_parts[1], '. '))).config_address, ''),
        nullif(v_parts[2], 'resource'),
        v_parts[3],
        v_parts[4]
    );
end;
$$;

comment on function kl_internal.parse_dependency(text) is
'The configuration address that one entry of dependencies names: module keys dropped.

Raises: KL001.';
