-- requires: address/_plain_key_path
create or replace function kl_internal.plain_addresses(p_addresses text[])
returns table (
    ordinal        bigint,
    module_path    text,
    mode           text,
    type           text,
    name           text,
    index_key      jsonb,
    has_key        boolean,
    path           text,
    address        text,
    config_address text
)
language plpgsql
immutable
parallel safe
rows 100
set search_path = pg_catalog, pg_temp
as $$
declare
    v_parts text[];
    v_count integer;
    v_name  text;
    v_key   text;
begin
    -- No match of a whole address and no captures: those cost ten times as much. A loop, because a
    -- statement that puts the parts together again costs more than they do.
    ordinal := 0;
    foreach address in array coalesce(p_addresses, '{}') loop
        ordinal := ordinal + 1;
        continue when octet_length(address) > 200
            or coalesce(address, '') collate "C" !~ '^[]0-9A-Za-z_.["/:@-]+$';

        -- "module" and its name, at last type and name; "data" before these makes the count odd.
        v_parts := string_to_array(address, '.');
        v_count := cardinality(v_parts);
        module_path := '';
        config_address := '';
        for v_place in 2 .. v_count - 2 by 2 loop
            v_name := split_part(v_parts[v_place], '[', 1);
            v_key := kl_internal.plain_key_path(substr(v_parts[v_place], length(v_name) + 1));
            module_path := case
                when v_parts[v_place - 1] = 'module' then
                    module_path || E'\x06' || v_name || E'\x01' || v_key
            end;
            config_address := config_address || 'module.' || v_name || '.';
        end loop;

        mode := case when v_count % 2 = 1 then 'data' else 'managed' end;
        continue when v_count < 2
            or (mode = 'data' and v_parts[v_count - 2] is distinct from 'data');
        type := v_parts[v_count - 1];
        name := split_part(v_parts[v_count], '[', 1);
        v_key := substr(v_parts[v_count], length(name) + 1);
        has_key := v_key <> '';
        path := module_path || E'\x05' || left(mode, 1) || type || E'\x01' || name || E'\x01'
            || case when has_key then kl_internal.plain_key_path(v_key) else '' end;
        config_address := config_address || case mode when 'data' then 'data.' else '' end
            || type || '.' || name;

        -- No name is empty, or has what only stands in keys; path is null when a part did not fit.
        continue when path is null
            or type in ('module', 'data', 'resource')
            or config_address collate "C" !~ '^[0-9A-Za-z_.-]+$'
            or strpos('.' || config_address || '.', '..') > 0;
        index_key := nullif(btrim(v_key, '[]'), '')::jsonb;
        return next;
    end loop;
end;
$$;

comment on function kl_internal.plain_addresses(text[]) is
'kl_internal.parse_address for all addresses that stand as Terraform prints them, without unusual
characters; others are left out. A row for each, with its ordinal.';
