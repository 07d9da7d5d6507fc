-- requires: core/_clock, core/_wire_time
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
    -- An instance or a resource is all below its path, and all that holds it is around it.
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
        select v.*
        from kl_internal.resource_reservations as v
        where v.state_id = p_state_id
            and v.apply_id is distinct from p_apply_id
            and v.expires_at > kl_internal.clock()
            and exists (
                select
                from unnest(p_paths) as p (path)
                where v.scope && kl_gist.scope_range(p.path, p.path || E'\x08')
            )
        order by v.path, v.apply_id
        limit 100
    ) as r;
$$;

comment on function kl_internal.others_scopes(uuid, uuid, text[]) is
'The live reservations of other runs that overlap what is at or below some paths; null for none.

p_apply_id: whose own do not count; null for nobody''s.';
