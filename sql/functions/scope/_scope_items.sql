create or replace function kl_internal.scope_items(
    p_state_id  uuid,
    p_selectors jsonb,
    p_context   jsonb
)
returns setof kl_internal.scope_item
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
    with candidates as materialized (
        select distinct
            l.role,
            a.address
        from (
            values
                ('write', 'explicit_write_candidates'),
                ('read', 'explicit_read_candidates'),
                ('undeployed', 'undeployed_config_candidates'),
                ('removed', 'removed_config_candidates')
        ) as l (role, member)
        cross join lateral unnest(
            kl_internal.json_texts(p_context -> l.member, '/client_context/' || l.member)
        ) as a (address)
        union
        select 'write', s.value
        from kl_internal.scope_selectors(p_selectors) as s
        where s.kind = 'resource_address'
    ),
    named as materialized (
        select
            c.roles[a.ordinal] as role,
            a.address,
            a.config_address,
            a.path,
            a.module_path,
            false as is_module,
            a.has_key
        from (
            select array_agg(c.role) as roles, array_agg(c.address) as addresses
            from candidates as c
        ) as c
        cross join lateral kl_internal.parse_addresses(c.addresses) as a
        union all
        select
            'write',
            m.address,
            m.config_address,
            m.module_path,
            m.module_path,
            true,
            false
        from kl_internal.scope_selectors(p_selectors) as s
        cross join lateral kl_internal.parse_module(s.value) as m
        where s.kind = 'module_prefix'
    ),
    unkeyed as (
        select coalesce(array_agg(c.address), '{}') as modules
        from kl_internal.module_calls(p_context) as c
        where not c.keyed
    )
    select distinct n.role, n.address, n.config_address, n.path, n.is_module, n.has_key, null
    from named as n
    where strpos(n.module_path, E'\x01\x02') = 0
    union all
    -- Only a module step without key can stand for more than it says.
    select distinct
        o.role,
        o.address,
        o.config_address,
        s.path,
        o.is_module,
        o.has_key and s.note is null,
        s.note
    from (
        select n.*
        from named as n
        where strpos(n.module_path, E'\x01\x02') > 0
        offset 0
    ) as o
    cross join unkeyed as u
    cross join lateral kl_internal.scope_path(p_state_id, o.address, u.modules) as s;
exception
    when sqlstate 'KL001' then
        perform kl_internal.refuse_scope_address(p_selectors, p_context);
        raise;
end;
$$;

comment on function kl_internal.scope_items(uuid, jsonb, jsonb) is
'What the selectors and candidates of a request name, each once; file hints name nothing.

Raises: KL001.';
