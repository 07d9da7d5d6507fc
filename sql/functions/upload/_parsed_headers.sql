-- requires: address/_parse_module, json/_staged_json, upload/_header_columns
-- requires: upload/_header_problem, upload/_provider_problem
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
            j.block,
            j.header,
            coalesce(j.header ->> 'module', '') as module,
            j.header ->> 'provider' as provider,
            kl_internal.header_problem(j.header) as problem
        from (
            select
                u.block,
                kl_internal.staged_json(u.header, p_escaped) as header
            from unnest(p_headers) with ordinality as u (header, block)
            where u.block = any (p_blocks)
            offset 0
        ) as j
    ),
    modules as materialized (
        select
            d.module,
            p.module_path,
            p.address,
            p.config_address
        from (
            select distinct h.module
            from headers as h
            where h.problem is null
        ) as d
        cross join lateral kl_internal.parse_module(d.module) as p
    ),
    providers as materialized (
        select
            d.provider,
            kl_internal.provider_problem(d.provider) as problem
        from (
            select distinct h.provider
            from headers as h
            where h.provider is not null
        ) as d
    )
    select
        h.block,
        h.header,
        c.path,
        c.address,
        c.config_address,
        c.resource_extra,
        coalesce(h.problem, p.problem)
    from headers as h
    left join modules as m on m.module = h.module
    left join providers as p on p.provider = h.provider
    cross join lateral kl_internal.header_columns(
        h.header, m.module_path, m.address, m.config_address
    ) as c;
$$;

comment on function kl_internal.parsed_headers(bytea[], integer[], boolean) is
'The staged headers of resources, parsed: path and addresses without instance keys.

block: the place in p_headers; only those in p_blocks are read. Raises: KL001 (a module that is no
address); what jsonb raises where the plain form does not fit.';
