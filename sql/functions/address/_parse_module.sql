create or replace function kl_internal.parse_module(
    p_module        text,
    out module_path text,
    out address     text,
    out config_address text
)
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_rest   text := p_module;
    v_text   text;
    v_name   text;
    v_quoted text;
    v_step   text[];
    v_key    jsonb;
    v_kept   text;
begin
    module_path := '';
    address := '';
    config_address := '';

    -- One call in plain letters, which most are, needs no taking apart.
    if octet_length(v_rest) <= 200
        and v_rest ~ '^module\.[0-9A-Za-z_-]+(\["[0-9A-Za-z_./:@-]+"])?$' then
        address := v_rest;
        config_address := split_part(v_rest, '[', 1);
        module_path := E'\x06' || substr(config_address, 8) || E'\x01'
            || kl_internal.plain_key_path(substr(v_rest, length(config_address) + 1));
        return;
    end if;

    while coalesce(v_rest, '') <> '' loop
        -- Terraform's own spelling is found without groups: those take long.
        v_text := regexp_substr(
            v_rest, '^module\.[^\s.\[\]"\\]+(?:\[(?:\d+|"(?:[^"\\]|\\.)*")\])?(?=$|\..)'
        );
        v_name := split_part(substr(v_text, 8), '[', 1);
        v_quoted := rtrim(substr(v_text, length(v_name) + 9), ']');
        v_step := array[v_name] || case
            when v_quoted = '' then array[null, null]
            when starts_with(v_quoted, '"') then
                array[null, substr(v_quoted, 2, length(v_quoted) - 2)]
            else array[v_quoted, null]
        end || array['.', substr(v_rest, length(v_text) + 2)];

        -- module . NAME [ KEY ] then a dot or the end
        if v_text is null then
            v_step := regexp_match(
                v_rest,
                '^\s*module\s*\.\s*([^\s.\[\]"\\]+)\s*'
                    || '(?:\[\s*(?:(\d+(?:\.0*)?)|"((?:[^"\\]|\\.)*)")\s*\]\s*)?'
                    || '(?:$|(\.)(?=.))(.*)$'
            );
        end if;
        if v_step is null then
            raise exception using
                errcode = 'KL001',
                message = format('%s is not a module address', to_json(p_module)),
                detail = jsonb_build_object('module', p_module)::text;
        end if;

        v_key := coalesce(
            to_jsonb(trunc(v_step[2]::numeric)),
            to_jsonb(kl_internal.unquote_key(v_step[3]))
        );
        module_path := module_path || E'\x06' || kl_internal.bounded_text(v_step[1]) || E'\x01'
            || kl_internal.instance_key_path(v_key, true);
        address := concat_ws('.', nullif(address, ''), 'module') || '.' || v_step[1]
            || kl_internal.instance_key_text(v_key, true);
        config_address := concat_ws('.', nullif(config_address, ''), 'module') || '.' || v_step[1];
        if octet_length(module_path) <= 1000 then
            v_kept := module_path;
        end if;
        v_rest := v_step[5];
    end loop;

    -- An index row has an end: keep the steps that fit and close with a hash of them all.
    if octet_length(module_path) > 1300 then
        module_path := coalesce(v_kept, '') || E'\x06\x08#'
            || encode(sha256(convert_to(module_path, 'UTF8')), 'hex') || E'\x01\x02';
    end if;
end;
$$;

comment on function kl_internal.parse_module(text) is
'A module instance address as a path, in Terraform''s spelling, and without its keys.

The root module is empty in all three. Raises: KL001.';
