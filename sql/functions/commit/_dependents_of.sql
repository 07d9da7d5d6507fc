create or replace function kl_internal.dependents_of(
    p_state_id uuid,
    p_nodes    text[],
    p_except   kl_internal.resources[]
)
returns kl_internal.resources[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Each list once, however many objects share it.
    return (
        select coalesce(array_agg(r order by r.path), '{}')
        from kl_internal.dependency_sets as d
        inner join kl_internal.resources as r
            on r.state_id = p_state_id
            and r.dependency_set_id = d.id
            and r.closed_no is null
        where d.state_id = p_state_id
            and d.config_addresses && p_nodes
            and not exists (
                select
                from unnest(p_except) as e
                where e.id = r.id
            )
    );
end;
$$;

comment on function kl_internal.dependents_of(uuid, text[], kl_internal.resources[]) is
'The open rows, deposed ones too, whose dependencies name one of some configuration addresses.

p_except: those that do not count.';
