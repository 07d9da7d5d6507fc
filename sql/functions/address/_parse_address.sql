create or replace function kl_internal.parse_address(
    p_address          text,
    out module_path    text,
    out mode           text,
    out type           text,
    out name           text,
    out index_key      jsonb,
    out has_key        boolean,
    out path           text,
    out address        text,
    out config_address text
)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_head   text;
    v_rest   text;
    v_names  text[];
    v_key    text;
    v_parts  text[];
    v_module record;
begin
    select
        p.module_path, p.mode, p.type, p.name, p.index_key, p.has_key, p.path, p.address,
        p.config_address
    into module_path, mode, type, name, index_key, has_key, path, address, config_address
    from kl_internal.plain_addresses(array[p_address]) as p;
    if path is not null then
        return;
    end if;

    -- Terraform's own spelling, which nearly all have, is found without groups: those take long.
    v_head := regexp_substr(
        p_address,
        '^(?:module\.[^\s.\[\]"\\]+(?:\[(?:\d+|"(?:[^"\\]|\\.)*")\])?\.)*'
    );
    v_rest := substr(p_address, length(v_head) + 1);
    if v_rest ~ ('^(?:data\.)?[^\s.\[\]"\\]+\.[^\s.\[\]"\\]+'
            || '(?:\[(?:\d+|"(?:[^"\\]|\\.)*")\])?$') then
        v_names := string_to_array(split_part(v_rest, '[', 1), '.');
        v_key := substr(rtrim(v_rest, ']'), length(split_part(v_rest, '[', 1)) + 2);
        v_parts := array[v_head, null, case cardinality(v_names) when 3 then 'data.' end]
            || v_names[cardinality(v_names) - 1:]
            || case
                when v_key = '' then array[null, null]
                when starts_with(v_key, '"') then array[null, substr(v_key, 2, length(v_key) - 2)]
                else array[v_key, null]
            end;
    end if;

    -- Modules, "resource." and "data.", TYPE . NAME, KEY. Dots and brackets in quotes are text.
    v_parts := coalesce(v_parts, regexp_match(
        p_address,
        '^\s*((?:module\s*\.\s*[^\s.\[\]"\\]+\s*'
            || '(?:\[\s*(?:\d+(?:\.0+)?|"(?:[^"\\]|\\.)*")\s*\]\s*)?\.\s*)*)'
            || '(resource\s*\.\s*)?(data\s*\.\s*(?=[^\s.\[\]"\\]+\s*\.))?'
            || '([^\s.\[\]"\\]+)\s*\.\s*([^\s.\[\]"\\]+)\s*'
            || '(?:\[\s*(?:(\d+(?:\.0+)?)|"((?:[^"\\]|\\.)*)")\s*\]\s*)?$'
    ));

    if v_parts is null
        or (v_parts[2] is null and v_parts[4] in ('module', 'data', 'resource'))
        or (v_parts[2] is not null and v_parts[3] is not null) then
        raise exception using
            errcode = 'KL001',
            message = format(
                '%s is not a resource address: %s',
                coalesce(to_json(left(p_address, 400))::text, 'null'),
                kl_internal.address_problem(p_address)
            ),
            detail = jsonb_build_object('address', left(p_address, 4000))::text;
    end if;

    select m.* into v_module
    from kl_internal.parse_module(rtrim(v_parts[1], E'. \t\n\r\f\v')) as m;
    module_path := v_module.module_path;
    mode := case when v_parts[3] is null then 'managed' else 'data' end;
    type := v_parts[4];
    name := v_parts[5];
    index_key := coalesce(
        to_jsonb(trunc(v_parts[6]::numeric)),
        to_jsonb(kl_internal.unquote_key(v_parts[7]))
    );
    has_key := index_key is not null;
    path := kl_internal.resource_path(module_path, mode, type, name)
        || case when has_key then kl_internal.instance_key_path(index_key, true) else '' end;
    config_address := concat_ws(
        '.',
        nullif(v_module.config_address, ''),
        case mode when 'data' then 'data' end,
        type,
        name
    );
    address := concat_ws(
        '.',
        nullif(v_module.address, ''),
        case mode when 'data' then 'data' end,
        type,
        name
    ) || kl_internal.instance_key_text(index_key, true);
end;
$body$;

comment on function kl_internal.parse_address(text) is
'The parts of a resource or instance address, as Terraform parses one.

path: of the instance; without a key of the resource, which is a prefix of all its instances.
address: in Terraform''s spelling. Module keys are part of module_path. Raises: KL001.';
