create or replace function kl_internal.scope_edges(
    p_sets      bigint[],
    p_configs   text[],
    p_paths     text[],
    p_node_from text[],
    p_node_to   text[],
    p_calls     text[]
)
returns table (config_address text, within text, stored boolean)
language plpgsql
stable
rows 1000
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with sources as materialized (
        select distinct s.dependency_set_id, s.config_address, s.path
        from unnest(p_sets, p_configs, p_paths) as s (dependency_set_id, config_address, path)
    ),
    calls as materialized (
        -- The self-contained calls around each source.
        select s.config_address, array_agg(a.call) as calls
        from (select distinct config_address from sources) as s
        inner join unnest(p_calls) as a (call) on starts_with(s.config_address, a.call || '.')
        group by s.config_address
    ),
    placed as materialized (
        select
            s.dependency_set_id,
            s.config_address,
            coalesce(c.calls, '{}') as calls,
            kl_internal.module_steps(s.path, coalesce(cardinality(c.calls), 0)) as steps
        from sources as s
        left join calls as c on c.config_address = s.config_address
    ),
    edges as (
        select l.calls, l.steps, m.member, true as stored
        from (select distinct calls, steps, dependency_set_id from placed) as l
        inner join kl_internal.dependency_sets as d on d.id = l.dependency_set_id
        cross join lateral unnest(d.config_addresses) as m (member)
        union
        select l.calls, l.steps, e.member, false
        from placed as l
        inner join unnest(p_node_from, p_node_to) as e (node, member)
            on e.node = l.config_address
        where e.member is not null
    )
    select distinct
        e.member,
        case
            when e.steps = '' then ''
            else kl_internal.module_steps(
                e.steps,
                (
                    select count(*)
                    from unnest(e.calls) as a (call)
                    where starts_with(e.member, a.call || '.')
                )
            )
        end,
        e.stored
    from edges as e;
end;
$$;

comment on function kl_internal.scope_edges(bigint[], text[], text[], text[], text[], text[]) is
'What resources, and blocks that have none yet, depend on: by stored lists and the client''s nodes.

p_sets, p_configs, p_paths: where from; a block has no set. p_paths: the module instance it is in.
within: the module instance a dependency is in, known only inside self-contained calls (p_calls);
empty: any. stored: a stored list says so, which lists indirect dependencies as well.';
