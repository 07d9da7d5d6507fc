-- requires: core/_wire_time, reservations/_scope_conflicts
create or replace function kl_internal.others_scopes(
    p_state_id uuid,
    p_apply_id uuid,
    p_paths    text[]
)
returns jsonb
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    -- An instance or a resource is all below its path, and all that holds it is around it: as if it
    -- were to be reserved for writing.
    select jsonb_agg(
        jsonb_build_object(
            'address_glob', r.address_glob,
            'mode', r.mode,
            'holder', r.holder,
            'apply_id', r.apply_id,
            'expires_at', kl_internal.wire_time(r.expires_at)
        )
        order by r.path, r.apply_id
    )
    from (
        select c.*
        from kl_internal.scope_conflicts(
            p_state_id,
            p_apply_id,
            p_paths,
            array_fill('write'::text, array[coalesce(cardinality(p_paths), 0)])
        ) as c
        order by c.path, c.apply_id
        limit 100
    ) as r;
$$;

comment on function kl_internal.others_scopes(uuid, uuid, text[]) is
'The live reservations of other runs that overlap what is at or below some paths; null for none.

p_apply_id: whose own do not count; null for nobody''s.';
