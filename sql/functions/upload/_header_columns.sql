-- requires: address/_resource_path, json/_null_members
create or replace function kl_internal.header_columns(
    p_header         jsonb,
    p_module_path    text,
    p_module_address text,
    p_module_config  text
)
returns table (path text, address text, config_address text, resource_extra jsonb)
language sql
immutable
parallel safe
as $$
    select
        kl_internal.resource_path(
            p_module_path, p_header ->> 'mode', p_header ->> 'type', p_header ->> 'name'
        ),
        pg_catalog.concat_ws(
            '.',
            nullif(p_module_address, ''),
            case when p_header ->> 'mode' = 'data' then 'data' end,
            p_header ->> 'type',
            p_header ->> 'name'
        ),
        pg_catalog.concat_ws(
            '.',
            nullif(p_module_config, ''),
            case when p_header ->> 'mode' = 'data' then 'data' end,
            p_header ->> 'type',
            p_header ->> 'name'
        ),
        nullif(
            p_header - array['module', 'mode', 'type', 'name', 'provider', 'instances']
                || case
                    when 'null' in (p_header -> 'module', p_header -> 'provider') then
                        kl_internal.null_members(p_header, array['module', 'provider'])
                    else '{}'
                end,
            '{}'
        );
$$;

comment on function kl_internal.header_columns(jsonb, text, text, text) is
'What rows have of the members of their resource, whose module is parsed. Inlined.';
