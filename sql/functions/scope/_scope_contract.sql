create or replace function kl_internal.scope_contract(
    p_state_id  uuid,
    p_items     kl_internal.scope_item[],
    p_hints     text[],
    p_node_from text[],
    p_node_to   text[],
    p_calls     text[],
    out lists   kl_internal.scope_lists,
    out verdict jsonb
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_nodes  text[] := array(select distinct unnest(p_node_from));
    v_named  record;
    v_needs  kl_internal.scope_need[];
    v_reads  kl_internal.scope_object[];
    v_absent kl_internal.scope_absence[];
begin
    select n.*
    into v_named
    from kl_internal.scope_named(p_state_id, p_items, p_calls) as n;

    v_needs := array(
        select c
        from kl_internal.scope_blocks(p_items, v_nodes) as b
        cross join lateral kl_internal.scope_closure(
            p_state_id,
            v_named.ids,
            v_named.sets || array_fill(null::bigint, array[cardinality(b.configs)]),
            v_named.configs || b.configs,
            v_named.places || b.paths,
            p_node_from,
            p_node_to,
            p_calls
        ) as c
    );
    v_absent := array(
        select a
        from kl_internal.scope_absent(
            p_items, v_named.present, v_named.written, v_needs, v_nodes
        ) as a
    );
    v_reads := array(
        select row(o.*)::kl_internal.scope_object
        from (
            select r.*
            from unnest(v_named.reads) as r
            union all
            select (n.object).*
            from unnest(v_needs) as n
            where (n.object).id is not null
        ) as o
        where o.id not in (select w.id from unnest(v_named.written) as w)
    );

    lists := kl_internal.scope_lists(p_items, v_named.written, v_reads, v_absent);
    verdict := kl_internal.scope_verdict(
        p_items, p_hints, v_needs, v_named.written, v_named.told, v_reads, v_absent, v_nodes
    );
end;
$$;

comment on function kl_internal.scope_contract(
    uuid, kl_internal.scope_item[], text[], text[], text[], text[]
) is
'The scope that items stand for: what it writes, reads and needs, how sure that is, and why.

p_hints: files that the client named. p_node_from, p_node_to: rows of kl_internal.scope_nodes.
p_calls: module calls that are self-contained. verdict: see kl_internal.scope_verdict.';
