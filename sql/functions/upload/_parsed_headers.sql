-- requires: address/_parse_module, address/_resource_path, json/_null_members
-- requires: json/_staged_json, upload/_header_problem, upload/_provider_problem
create or replace function kl_internal.parsed_headers(
    p_headers bytea[],
    p_blocks  integer[],
    p_escaped boolean
)
returns table (
    block           bigint,
    header          jsonb,
    path            text,
    address         text,
    config_address  text,
    resource_extra  jsonb,
    problem         text
)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    with headers as materialized (
        select
            u.block,
            kl_internal.staged_json(u.header, p_escaped) as header
        from unnest(p_headers) with ordinality as u (header, block)
        where u.block = any (p_blocks)
    ),
    modules as materialized (
        select
            d.module,
            p.module_path,
            p.address,
            p.config_address
        from (
            select distinct coalesce(h.header ->> 'module', '') as module
            from headers as h
            where kl_internal.header_problem(h.header) is null
        ) as d
        cross join lateral kl_internal.parse_module(d.module) as p
    ),
    providers as materialized (
        select
            d.provider,
            kl_internal.provider_problem(d.provider) as problem
        from (
            select distinct h.header ->> 'provider' as provider
            from headers as h
            where h.header ->> 'provider' is not null
        ) as d
    )
    select
        h.block,
        h.header,
        kl_internal.resource_path(
            m.module_path, h.header ->> 'mode', h.header ->> 'type', h.header ->> 'name'
        ),
        concat_ws(
            '.',
            nullif(m.address, ''),
            case when h.header ->> 'mode' = 'data' then 'data' end,
            h.header ->> 'type',
            h.header ->> 'name'
        ),
        concat_ws(
            '.',
            nullif(m.config_address, ''),
            case when h.header ->> 'mode' = 'data' then 'data' end,
            h.header ->> 'type',
            h.header ->> 'name'
        ),
        nullif(
            h.header - array['module', 'mode', 'type', 'name', 'provider']
                || case
                    when h.header <> jsonb_strip_nulls(h.header) then
                        kl_internal.null_members(h.header, array['module', 'provider'])
                    else '{}'
                end,
            '{}'
        ),
        coalesce(kl_internal.header_problem(h.header), p.problem)
    from headers as h
    left join modules as m on m.module = coalesce(h.header ->> 'module', '')
    left join providers as p on p.provider = h.header ->> 'provider';
$$;

comment on function kl_internal.parsed_headers(bytea[], integer[], boolean) is
'The staged headers of resources, parsed: path and addresses without instance keys.

block: the place in p_headers; only those in p_blocks are read. Raises: KL001 (a module that is no
address); what jsonb raises where the plain form does not fit.';
