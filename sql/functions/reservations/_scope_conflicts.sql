create or replace function kl_internal.scope_conflicts(
    p_state_id uuid,
    p_apply_id uuid,
    p_paths    text[],
    p_modes    text[]
)
returns setof kl_internal.resource_reservations
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off  -- nobody knows how long the arrays are, or how many rows are held by now
as $$
declare
    v_now timestamptz := kl_internal.clock();
begin
    -- Compared as rows, which is what only the index on (state_id, path) can do: where the table
    -- was empty when its statistics were taken, an index on all of a state looks as good.
    return query
    with wanted as (
        select distinct w.path, w.mode
        from unnest(p_paths, p_modes) as w (path, mode)
    ),
    above as materialized (
        select distinct p.path, w.mode
        from wanted as w
        cross join lateral kl_internal.path_prefixes(w.path) as p (path)
    ),
    found as (
        select r.id
        from above as w
        cross join lateral (
            select a.id
            from kl_internal.resource_reservations as a
            where (a.state_id, a.path) >= (p_state_id, w.path)
                and (a.state_id, a.path) <= (p_state_id, w.path)
                and a.apply_id is distinct from p_apply_id
                and a.expires_at > v_now
                and (a.mode = 'write' or w.mode = 'write')
            offset 0
        ) as r
        union
        select r.id
        from wanted as w
        cross join lateral (
            select b.id
            from kl_internal.resource_reservations as b
            where (b.state_id, b.path) > (p_state_id, w.path)
                and (b.state_id, b.path) < (p_state_id, w.path || E'\x08')
                and b.apply_id is distinct from p_apply_id
                and b.expires_at > v_now
                and (b.mode = 'write' or w.mode = 'write')
            offset 0  -- one range of the index for each
        ) as r
    )
    select r.*
    from found as f
    inner join kl_internal.resource_reservations as r on r.id = f.id
    order by r.path, r.id;
end;
$$;

comment on function kl_internal.scope_conflicts(uuid, uuid, text[], text[]) is
'The live reservations of others that scopes (paths, with their modes) would meet, in path order.

What is above a scope is found by equality, what is below by range. p_apply_id null: everybody is
another. Two reads do not meet.';
