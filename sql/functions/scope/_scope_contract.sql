create or replace function kl_internal.scope_contract(
    p_state_id  uuid,
    p_items     kl_internal.scope_item[],
    p_hints     text[],
    p_node_from text[],
    p_node_to   text[],
    p_calls     text[]
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_nodes    text[] := array(select distinct unnest(p_node_from));
    v_present  integer[];
    v_written  bigint[];
    v_whole    bigint[];
    v_needed   bigint[];
    v_reads    bigint[];
    v_told     bigint[];
    v_configs  text[];
    v_sets     bigint[];
    v_froms    text[];
    v_places   text[];
    v_needs    kl_internal.scope_need[];
    v_absent   kl_internal.scope_absence[];
begin
    -- whole, needed: named by a block or a module. told: somebody must tell what these depend on.
    -- sets, froms, places: what these objects depend on is looked for once per module instance.
    with named as materialized (
        select r.*, i.role, i.keyed
        from kl_internal.scope_rows(p_state_id, p_items) as r
        inner join unnest(p_items) with ordinality
            as i (role, address, config_address, path, is_module, keyed, note, item_no)
            on i.item_no = r.item_no
    ),
    sources as (
        select distinct
            n.dependency_set_id,
            n.config_address,
            case when p_calls = '{}' then '' else substring(n.path from E'^[^\x05]*') end as path
        from named as n
        where n.deposed = ''
    ),
    starts as (
        select
            coalesce(array_agg(s.dependency_set_id), '{}') as sets,
            coalesce(array_agg(s.config_address), '{}') as configs,
            coalesce(array_agg(s.path), '{}') as paths
        from sources as s
    ),
    roles as (
        select
            coalesce(array_agg(distinct w.item_no), '{}') as present,
            coalesce(array_agg(distinct w.id) filter (where w.role <> 'read'), '{}') as written,
            coalesce(array_agg(distinct w.id) filter (where w.role <> 'read' and not w.keyed), '{}')
                as whole,
            coalesce(array_agg(distinct w.id) filter (where w.role = 'read' and not w.keyed), '{}')
                as needed,
            coalesce(array_agg(distinct w.id) filter (where w.role = 'read'), '{}') as reads,
            array(
                select unnest(
                    array_agg(w.id) filter (
                        where w.dependency_set_id is null
                            and w.deposed = ''
                            and w.role in ('write', 'undeployed')
                    )
                )
                except
                select unnest(array_agg(w.id) filter (where w.role = 'removed'))
            ) as told,
            coalesce(array_agg(distinct w.config_address) filter (where w.role <> 'read'), '{}')
                as configs
        from named as w
    )
    select r.present, r.written, r.whole, r.needed, r.reads, r.told, r.configs, s.sets, s.configs,
        s.paths
    into v_present, v_written, v_whole, v_needed, v_reads, v_told, v_configs, v_sets, v_froms,
        v_places
    from roles as r
    cross join starts as s;

    v_needs := array(
        select c
        from kl_internal.scope_blocks(p_items, v_nodes) as b
        cross join lateral kl_internal.scope_closure(
            p_state_id,
            v_written || v_reads,
            v_sets || array_fill(null::bigint, array[cardinality(b.configs)]),
            v_froms || b.configs,
            v_places || b.paths,
            p_node_from,
            p_node_to,
            p_calls
        ) as c
    );
    v_absent := array(
        select a
        from kl_internal.scope_absent(p_items, v_present, v_configs, v_needs, v_nodes) as a
    );
    v_reads := array(
        select unnest(v_reads)
        union
        select n.id
        from unnest(v_needs) as n
        where n.id is not null
        except
        select unnest(v_written)
    );

    v_needed := array(
        select unnest(v_needed)
        union
        select n.id
        from unnest(v_needs) as n
        where n.id is not null
        except
        select unnest(v_written)
    );

    return kl_internal.scope_answer(
        p_items, v_written, v_whole || v_needed, v_reads, v_absent
    ) || kl_internal.scope_verdict(
        p_items, p_hints, v_needs, v_written, v_told, v_reads, v_absent, v_nodes
    );
end;
$$;

comment on function kl_internal.scope_contract(
    uuid, kl_internal.scope_item[], text[], text[], text[], text[]
) is
'The scope that items stand for: what it writes, reads and needs, how sure that is, and why.

p_hints: files that the client named. p_node_from, p_node_to: rows of kl_internal.scope_nodes.
p_calls: module calls that are self-contained.';
