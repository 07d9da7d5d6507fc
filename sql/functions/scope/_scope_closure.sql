create or replace function kl_internal.scope_closure(
    p_state_id  uuid,
    p_ids       bigint[],
    p_sets      bigint[],
    p_configs   text[],
    p_paths     text[],
    p_node_from text[],
    p_node_to   text[],
    p_calls     text[]
)
returns setof kl_internal.scope_need
language plpgsql
stable
rows 1000
set search_path = pg_catalog, pg_temp
as $$
declare
    v_seen_configs text[] := '{}'::text[];
    v_seen_withins text[] := '{}'::text[];
    v_seen_stored  boolean[] := '{}'::boolean[];
    v_seen_ids     bigint[] := p_ids;
    v_sets         bigint[] := p_sets;
    v_configs      text[] := p_configs;
    v_paths        text[] := p_paths;
    v_to           text[];
    v_withins      text[];
    v_stored       boolean[];
    v_found        kl_internal.scope_need[];
begin
    -- One round per step away from the scope; a ring ends where it meets what was seen.
    loop
        select array_agg(e.config_address), array_agg(e.within), array_agg(e.stored)
        into v_to, v_withins, v_stored
        from (
            select e.config_address, e.within, e.stored
            from kl_internal.scope_edges(
                v_sets, v_configs, v_paths, p_node_from, p_node_to, p_calls
            ) as e
            except
            select s.config_address, s.within, s.stored
            from unnest(v_seen_configs, v_seen_withins, v_seen_stored)
                as s (config_address, within, stored)
        ) as e;
        exit when v_to is null;

        v_seen_configs := v_seen_configs || v_to;
        v_seen_withins := v_seen_withins || v_withins;
        v_seen_stored := v_seen_stored || v_stored;

        v_found := array(
            select t
            from kl_internal.scope_targets(p_state_id, v_to, v_withins, v_stored) as t
        );
        return query
        select n.*
        from unnest(v_found) as n;

        -- The next round starts from what is there, and from the blocks that nothing is there of.
        select array_agg(s.dependency_set_id), array_agg(s.config_address), array_agg(s.path)
        into v_sets, v_configs, v_paths
        from (
            select
                (n.object).dependency_set_id,
                (n.object).config_address,
                case when p_calls = '{}' then '' else split_part((n.object).path, E'\x05', 1) end
                    as path
            from unnest(v_found) as n
            where not (n.object).is_deposed
                and (n.object).id not in (select unnest(v_seen_ids))
            union
            select null, n.config_address, n.within
            from unnest(v_found) as n
            where (n.object).id is null
        ) as s;
        v_seen_ids := v_seen_ids || array(
            select (n.object).id
            from unnest(v_found) as n
            where (n.object).id is not null
        );
    end loop;
end;
$$;

comment on function kl_internal.scope_closure(
    uuid, bigint[], bigint[], text[], text[], text[], text[], text[]
) is
'All that a scope depends on, through stored lists and the client''s nodes, however far: a row per
object, and per configuration address that the state has nothing of (no object).

p_ids: the objects of the scope. p_sets, p_configs, p_paths: the lists that they have, as
kl_internal.scope_edges takes them, and its blocks, with where they are or will be.
within, stored: see kl_internal.scope_edges. Objects of the scope come again where it needs them.';
