create or replace function kl_internal.dependency_edges(
    p_state_id   uuid,
    p_origin     text,
    p_dependents boolean
)
returns table (config_address text, depends_on text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_frontier text[] := array[p_origin];
    v_seen     text[] := array[p_origin];
    v_from     text[];
    v_to       text[];
begin
    -- One round per step away from the origin; a ring ends where it meets itself.
    while v_frontier <> '{}' loop
        if p_dependents then
            select array_agg(e.config_address), array_agg(e.depends_on)
            into v_from, v_to
            from kl_internal.edges_into(p_state_id, v_frontier) as e;
        else
            select array_agg(e.config_address), array_agg(e.depends_on)
            into v_from, v_to
            from kl_internal.edges_out_of(p_state_id, v_frontier) as e;
        end if;

        return query
        select e.one, e.other
        from unnest(v_from, v_to) as e (one, other);

        select coalesce(array_agg(n.node), '{}')
        into v_frontier
        from (
            select unnest(case when p_dependents then v_from else v_to end) as node
            except
            select unnest(v_seen)
        ) as n;

        v_seen := v_seen || v_frontier;
    end loop;
end;
$$;

comment on function kl_internal.dependency_edges(uuid, text, boolean) is
'The stored dependencies, by configuration address, among an address and all that it needs.

p_dependents: and all that needs it, instead.';
