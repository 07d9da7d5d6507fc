create or replace function kl_internal.rank_nodes(
    p_origin text,
    p_before text[],
    p_after  text[]
)
returns table (node text, depth integer)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off  -- nobody knows how long the arrays are
as $$
declare
    v_nodes  text[];
    v_before integer[];
    v_after  integer[];
    v_first  integer[];  -- where the edges of a node begin; 0: it has none
    v_waits  integer[];  -- how many edges into a node have not been walked
    v_depth  integer[];  -- the longest way to a node so far; 0: none
    v_placed boolean[];
    v_queue  integer[] := array[1];
    v_head   integer := 1;
    v_edge   integer;
    v_node   integer;
    v_least  integer;
begin
    -- Node 1 is the origin.
    select array_agg(n.node order by n.node <> p_origin, n.node)
    into v_nodes
    from (
        select p_origin as node
        union
        select unnest(p_before || p_after)
    ) as n;

    select
        coalesce(array_agg(e.before_no order by e.before_no), '{}'),
        coalesce(array_agg(e.after_no order by e.before_no), '{}')
    into v_before, v_after
    from (
        select distinct b.no::integer as before_no, a.no::integer as after_no
        from unnest(p_before, p_after) as e (before_node, after_node)
        inner join unnest(v_nodes) with ordinality as b (node, no) on b.node = e.before_node
        inner join unnest(v_nodes) with ordinality as a (node, no) on a.node = e.after_node
        where b.no <> a.no
            and a.no <> 1
    ) as e;

    v_first := array_fill(0, array[cardinality(v_nodes)]);
    v_waits := v_first;
    v_depth := v_first;
    v_placed := array_fill(false, array[cardinality(v_nodes)]);
    v_placed[1] := true;
    for v_edge in 1 .. cardinality(v_before) loop
        v_waits[v_after[v_edge]] := v_waits[v_after[v_edge]] + 1;
        if v_first[v_before[v_edge]] = 0 then
            v_first[v_before[v_edge]] := v_edge;
        end if;
    end loop;

    loop
        while v_head <= cardinality(v_queue) loop
            v_edge := v_first[v_queue[v_head]];
            while v_edge > 0 and v_before[v_edge] = v_queue[v_head] loop
                v_node := v_after[v_edge];
                if not v_placed[v_node] then
                    v_depth[v_node] := greatest(v_depth[v_node], v_depth[v_queue[v_head]] + 1);
                    v_waits[v_node] := v_waits[v_node] - 1;
                    if v_waits[v_node] = 0 then
                        v_placed[v_node] := true;
                        v_queue := v_queue || v_node;
                    end if;
                end if;
                v_edge := v_edge + 1;
            end loop;
            v_head := v_head + 1;
        end loop;

        -- A ring: go on with those of its nodes that are nearest.
        select min(n.depth)
        into v_least
        from unnest(v_depth, v_placed) as n (depth, placed)
        where n.depth > 0
            and not n.placed;
        exit when v_least is null;

        for v_node in 1 .. cardinality(v_nodes) loop
            if not v_placed[v_node] and v_depth[v_node] = v_least then
                v_placed[v_node] := true;
                v_queue := v_queue || v_node;
            end if;
        end loop;
    end loop;

    return query
    select n.node, n.depth
    from unnest(v_nodes, v_depth) as n (node, depth)
    where n.depth > 0;
end;
$$;

comment on function kl_internal.rank_nodes(text, text[], text[]) is
'How many steps the longest way from an origin to each node has; the origin itself is left out.

Edges lead from p_before to p_after. Lists of dependencies name indirect ones too, so the shortest
way would always be one step. In a ring the nodes nearest to the origin come first.';
