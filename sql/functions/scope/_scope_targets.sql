-- requires: address/_block_address
create or replace function kl_internal.scope_targets(
    p_state_id uuid,
    p_configs  text[],
    p_withins  text[],
    p_stored   boolean[]
)
returns setof kl_internal.scope_need
language plpgsql
stable
rows 1000
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
    with found as materialized (
        select
            t.config_address,
            t.within,
            t.stored,
            r.object,
            starts_with((r.object).path, t.within) as inside
        from unnest(p_configs, p_withins, p_stored) as t (config_address, within, stored)
        left join lateral (
            select
                row(
                    o.id,
                    case o.deposed when '' then o.path else split_part(o.path, E'\x07', 1) end,
                    o.address,
                    o.config_address,
                    kl_internal.block_address(o.address, o.index_key, o.escaped),
                    o.mode,
                    o.deposed <> '',
                    o.dependency_set_id
                )::kl_internal.scope_object as object
            from kl_internal.resources as o
            where o.state_id = p_state_id
                and hashtextextended(o.config_address, 0) = hashtextextended(t.config_address, 0)
                and o.config_address = t.config_address
                and o.closed_no is null
            offset 0  -- by the index, target for target
        ) as r on true
    ),
    judged as (
        select
            f.*,
            coalesce(
                bool_or(f.inside) over (partition by f.config_address, f.within, f.stored), false
            ) as narrowed
        from found as f
    )
    select
        j.config_address,
        case when j.narrowed then j.within else '' end,
        j.stored,
        j.object
    from judged as j
    where j.inside
        or not j.narrowed;
end;
$$;

comment on function kl_internal.scope_targets(uuid, text[], text[], boolean[]) is
'The objects at configuration addresses, inside a module instance where one is known; no object
where the state has none.

Where that instance has none but others have, all of them are taken: wider, never less.';
