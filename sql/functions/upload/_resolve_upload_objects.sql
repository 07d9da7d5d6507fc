-- requires: address/_instance_key_path
-- requires: address/_instance_key_text
-- requires: address/_parse_module
-- requires: address/_resource_path
-- requires: json/_needs_escape
-- requires: json/_null_members
-- requires: json/_staged_json
-- requires: upload/_dependency_digest
-- requires: upload/_dependency_list
-- requires: upload/_header_problem
-- requires: upload/_key_problem
-- requires: upload/_provider_problem
create or replace function kl_internal.resolve_upload_objects(
    p_state_id  uuid,
    p_upload_id uuid
)
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
set enable_nestloop = off  -- the stage has no statistics: it is as large as the state
set work_mem = '64MB'
as $$
    with parsed as materialized (
        select
            s.ordinal,
            e.escaped,
            s.slice is null as is_empty,
            s.dependencies,
            h.header,
            kl_internal.header_problem(h.header) as problem,
            nullif(kl_internal.staged_json(s.index_key, e.escaped), 'null') as index_key,
            nullif(kl_internal.staged_json(s.deposed, e.escaped), 'null') as deposed
        from kl_internal.staged_slices as s
        cross join lateral (
            -- One text, so that each test runs once per object.
            select concat_ws(
                ',', convert_from(s.header, 'UTF8'), convert_from(s.index_key, 'UTF8'),
                convert_from(s.attributes, 'UTF8'),
                convert_from(s.identity, 'UTF8'),
                convert_from(s.slice, 'UTF8')
            ) as text
            offset 0
        ) as t
        cross join lateral (select kl_internal.needs_escape(t.text) as escaped offset 0) as e
        cross join lateral (
            select kl_internal.staged_json(s.header, e.escaped) as header offset 0
        ) as h
        where s.upload_id = p_upload_id
            and s.kind = 'resource'
    ),
    modules as materialized (
        select
            m.module,
            p.module_path,
            p.address,
            p.config_address
        from (
            select distinct coalesce(p.header ->> 'module', '') as module
            from parsed as p
            where jsonb_typeof(p.header -> 'module') is distinct from 'object'
        ) as m
        cross join lateral kl_internal.parse_module(m.module) as p
    ),
    providers as materialized (
        select
            p.provider,
            kl_internal.provider_problem(p.provider) as problem
        from (select distinct p.header ->> 'provider' as provider from parsed as p) as p
    ),
    dependencies as materialized (
        select
            d.dependencies,
            s.id
        from (
            select distinct p.dependencies
            from parsed as p
            where p.dependencies is not null
                and p.dependencies not in ('null', '[]')
        ) as d
        inner join kl_internal.dependency_sets as s
            on s.state_id = p_state_id
            and s.digest = kl_internal.dependency_digest(
                kl_internal.dependency_list(d.dependencies)
            )
    )
    insert into kl_internal.upload_objects (
        upload_id, ordinal, path, address, config_address, module, mode, type, name, index_key,
        deposed, provider, resource_extra, dependency_set_id, escaped, problem
    )
    select
        p_upload_id,
        p.ordinal,
        kl_internal.resource_path(
            m.module_path, p.header ->> 'mode', p.header ->> 'type', p.header ->> 'name'
        )
            || kl_internal.instance_key_path(p.index_key, p.escaped)
            || coalesce(E'\x07' || nullif(p.deposed #>> '{}', ''), ''),
        concat_ws(
            '.',
            nullif(m.address, ''),
            case when p.header ->> 'mode' = 'data' then 'data' end,
            p.header ->> 'type',
            (p.header ->> 'name') || kl_internal.instance_key_text(p.index_key, p.escaped)
        ),
        concat_ws(
            '.',
            nullif(m.config_address, ''),
            case when p.header ->> 'mode' = 'data' then 'data' end,
            p.header ->> 'type',
            p.header ->> 'name'
        ),
        p.header ->> 'module',
        p.header ->> 'mode',
        p.header ->> 'type',
        p.header ->> 'name',
        p.index_key,
        coalesce(p.deposed #>> '{}', ''),
        p.header ->> 'provider',
        nullif(
            p.header - array['module', 'mode', 'type', 'name', 'provider']
                || case
                    when p.header <> jsonb_strip_nulls(p.header) then
                        kl_internal.null_members(p.header, array['module', 'provider'])
                    else '{}'
                end,
            '{}'
        ),
        d.id,
        p.escaped,
        coalesce(
            p.problem,
            v.problem,
            kl_internal.key_problem(p.index_key, p.deposed)
        )
    from parsed as p
    inner join modules as m on m.module = coalesce(p.header ->> 'module', '')
    left join providers as v on v.provider = p.header ->> 'provider'
    left join dependencies as d on d.dependencies = p.dependencies
    where not p.is_empty
        or p.problem is not null;
$$;

comment on function kl_internal.resolve_upload_objects(uuid, uuid) is
'Work out the path, address and header columns of staged objects, into upload_objects.

Raises: KL001.';
