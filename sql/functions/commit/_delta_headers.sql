-- requires: address/_parse_module, upload/_header_columns, upload/_header_problem
-- requires: upload/_provider_problem
create or replace function kl_internal.delta_headers(p_resources json, p_members jsonb)
returns table (
    block           bigint,
    instances       json,
    members         jsonb,
    path            text,
    address         text,
    config_address  text,
    resource_extra  jsonb,
    problem         text
)
language sql
stable
as $$
    select r.block, r.instances, r.members, c.*, p.problem
    from rows from (
        pg_catalog.json_to_recordset(p_resources) as (instances json),
        pg_catalog.jsonb_array_elements(p_members)
    ) with ordinality as r (instances, members, block)
    cross join lateral (
        select
            coalesce(
                kl_internal.header_problem(r.members),
                kl_internal.provider_problem(r.members ->> 'provider')
            ) as problem
        offset 0
    ) as p
    cross join lateral kl_internal.parse_module(
        case when p.problem is null then r.members ->> 'module' end
    ) as m
    cross join lateral kl_internal.header_columns(
        r.members, m.module_path, m.address, m.config_address
    ) as c
    offset 0;
$$;

comment on function kl_internal.delta_headers(json, jsonb) is
'The resources of a delta with what their objects have in common, parsed. Inlined.

p_members: the same as p_resources. Raises: KL001 (a module that is no address).';
