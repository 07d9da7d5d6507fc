create or replace function kl.dependency_graph(
    p_state      text,
    p_address    text default null,
    p_dependents boolean default false
)
returns table (config_address text, instances bigint, depends_on text[])
language plpgsql
stable
security definer
rows 1000
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_state_id uuid := (kl_internal.reader_state(p_state)).id;
    v_origin   text;
    v_nodes    text[];
    v_from     text[];
    v_to       text[];
begin
    if p_address is null then
        select array_agg(distinct r.config_address)
        into v_nodes
        from kl_internal.resources as r
        where r.state_id = v_state_id
            and r.closed_no is null;

        select array_agg(e.config_address), array_agg(e.depends_on)
        into v_from, v_to
        from kl_internal.edges_out_of(v_state_id, v_nodes) as e;
    else
        v_origin := (kl_internal.current_origin(p_state, p_address)).config_address;
        select array_agg(e.config_address), array_agg(e.depends_on)
        into v_from, v_to
        from kl_internal.dependency_edges(v_state_id, v_origin, p_dependents) as e;
        v_nodes := array[v_origin] || v_from || v_to;
    end if;

    return query
    select
        n.node,
        (
            select count(*)
            from kl_internal.resources as r
            where r.state_id = v_state_id
                and hashtextextended(r.config_address, 0) = hashtextextended(n.node, 0)
                and r.config_address = n.node
                and r.closed_no is null
                and r.deposed = ''
        ),
        coalesce(array_agg(e.depends_on order by e.depends_on)
            filter (where e.depends_on is not null), '{}')
    from (
        select unnest(v_nodes) as node
        union
        select unnest(v_to)
    ) as n
    left join kl_internal.direct_edges(v_from, v_to) as e on e.config_address = n.node
    group by n.node
    order by n.node collate "C";
end;
$$;

comment on function kl.dependency_graph(text, text, boolean) is
'The resources of a state with what each depends on directly; instances are counted, not listed.

With p_address only that resource and all it needs, or with p_dependents all that needs it. What
follows from other dependencies is left out; instances is 0 for what the state does not have.
Raises: KL001, KL101, KL102, KL201, KL203. Callers: analysts, server, CLI.';
