create or replace function kl_internal.rollback_preview(
    p_state     kl_internal.states,
    p_version   kl_internal.state_versions,
    p_address   text,
    p_closed    kl_internal.resources[],
    p_opened    kl_internal.resources[],
    p_conflicts jsonb
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_objects    jsonb;
    v_actions    text[];
    v_dependents kl_internal.resources[];
    v_warnings   text[];
begin
    select
        jsonb_agg(
            jsonb_build_object(
                'address', coalesce((r.after).address, (r.before).address),
                'deposed_key', nullif(coalesce((r.after).deposed, (r.before).deposed), ''),
                'action', r.action
            )
            order by r.path collate "C"
        ),
        array_agg(distinct r.action)
    into v_objects, v_actions
    from kl_internal.rolled_back_rows(p_state.id, p_address, p_version.version_no) as r;

    v_dependents := kl_internal.dependents_of(
        p_state.id,
        array(select distinct r.config_address from unnest(p_closed) as r),
        p_closed
    );
    v_warnings := array(
        select format(
            '%s, which comes back, depends on %s, which the state does not have',
            r.address, d.config_address
        )
        from unnest(p_opened) as r
        inner join kl_internal.dependency_sets as s on s.id = r.dependency_set_id
        cross join lateral unnest(s.config_addresses) as d (config_address)
        where not exists (
            select
            from kl_internal.resources as o
            where o.state_id = p_state.id
                and o.closed_no is null
                and hashtextextended(o.config_address, 0) = hashtextextended(d.config_address, 0)
                and o.config_address = d.config_address
        )
            and d.config_address <> all (array(select b.config_address from unnest(p_opened) as b))
        order by r.path, d.config_address
        limit 100
    );

    return kl_internal.operation_preview(
        'rollback', p_state, v_objects, v_dependents, p_conflicts, v_warnings
    ) || jsonb_build_object(
        'address', p_address,
        'action', case when cardinality(v_actions) = 1 then v_actions[1] else 'replace' end,
        'to_serial', p_version.serial,
        'to_version_id', p_version.id
    );
end;
$$;

comment on function kl_internal.rollback_preview(
    kl_internal.states, kl_internal.state_versions, text, kl_internal.resources[],
    kl_internal.resources[], jsonb
) is
'What a rollback would do, or did, as its answer shows it; ask before rows change.';
