create or replace function kl_internal.parse_plain_address(
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
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_parts text[];
    v_count integer;
    v_part  text;
    v_step  text;
    v_body  text;
    v_key   text;
begin
    -- No match of the whole and no captures: those cost ten times as much.
    if octet_length(p_address) > 200
        or coalesce(p_address, '') collate "C" !~ '^[]0-9A-Za-z_.["/:@-]+$' then
        return;
    end if;

    -- "module" and its name are two parts, type and name the last two; "data" makes it odd.
    v_parts := string_to_array(p_address, '.');
    v_count := cardinality(v_parts);
    mode := case when v_count % 2 = 1 then 'data' else 'managed' end;
    module_path := '';
    for v_place in 1 .. v_count loop
        v_part := v_parts[v_place];
        v_step := split_part(v_part, '[', 1);
        v_body := substr(v_part, length(v_step) + 2);
        v_key := case
            when v_part = v_step then E'\x02'
            when v_body ~ '^(0|[1-9][0-9]{0,8})]$' then
                E'\x03' || lpad(rtrim(v_body, ']'), 20, '0') || E'\x01'
            when v_body ~ '^"[^]["]*"]$' then E'\x04' || btrim(v_body, '"]') || E'\x01'
        end;

        case
            when v_step = '' or translate(v_step, '"]/:@', '') <> v_step or v_key is null then
                return;
            when v_place = v_count then
                name := v_step;
                index_key := nullif(rtrim(v_body, ']'), '')::jsonb;
                has_key := index_key is not null;
            when v_place = v_count - 1 then
                type := v_part;
                if type <> v_step or type in ('module', 'data', 'resource') then
                    return;
                end if;
            when v_place = v_count - 2 and mode = 'data' then
                if v_part <> 'data' then
                    return;
                end if;
            when v_place % 2 = 1 then
                if v_part <> 'module' then
                    return;
                end if;
            else
                module_path := module_path || E'\x06' || v_step || E'\x01' || v_key;
        end case;
    end loop;

    address := p_address;
    config_address := case
        when strpos(p_address, '[') = 0 then p_address
        else regexp_replace(p_address, '\[[^]]*\]', '', 'g')
    end;
    path := module_path || E'\x05' || left(mode, 1) || type || E'\x01' || name || E'\x01'
        || case when has_key then v_key else '' end;
end;
$$;

comment on function kl_internal.parse_plain_address(text) is
'kl_internal.parse_address for an address as Terraform prints one, without unusual characters; all
null for any other.';
