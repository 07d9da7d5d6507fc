create or replace function kl_internal.moved_since(
    p_base      kl_internal.state_versions,
    p_run_id    uuid,
    p_upload_id uuid,
    p_paths     text[],
    p_set_ids   bigint[]
)
returns text[]
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set enable_hashjoin = off  -- few rows are of those versions, which no statistics know
set enable_mergejoin = off
set enable_seqscan = off
as $$
declare
    v_scopes   kl_gist.scope_multirange;
    v_versions bigint[];
begin
    v_scopes := kl_internal.live_scopes(p_run_id, 'read');
    v_versions := array(
        select v.version_no
        from kl_internal.state_versions as v
        where v.state_id = p_base.state_id
            and v.version_no > p_base.version_no
            and v.run_id is distinct from p_run_id
    );
    -- In laterals, each a look into one index: no statistics know how little is of those versions.
    return (
        with closed as materialized (
            -- Compared as rows and in order, which is what the index on (state_id, closed_no) can
            -- do: one on paths looks as good, and would be read for all ever closed.
            select c.address, c.config_address, c.path
            from unnest(v_versions) as v (version_no)
            cross join lateral (
                select r.address, r.config_address, r.path
                from kl_internal.resources as r
                where (r.state_id, r.closed_no) >= (p_base.state_id, v.version_no)
                    and (r.state_id, r.closed_no) <= (p_base.state_id, v.version_no)
                    and r.closed_no is not null
                order by r.state_id, r.closed_no
                offset 0
            ) as c
        ),
        changed as (
            -- What the run has reserved, and somebody else has opened or closed.
            select r.address
            from kl_internal.resources as r
            where r.state_id = p_base.state_id
                and r.opened_no > p_base.version_no
                and r.opened_no = any (v_versions)
                and v_scopes @> r.path
            union
            select c.address
            from closed as c
            where v_scopes @> c.path
        ),
        needed as materialized (
            select unnest(u.config_addresses) as config_address
            from kl_internal.upload_dependencies as u
            where u.upload_id = p_upload_id
            union
            select unnest(s.config_addresses)
            from kl_internal.dependency_sets as s
            where s.id = any (p_set_ids)
            union
            select unnest(d.config_addresses)
            from unnest(p_paths) as p (path)
            cross join lateral (
                select r.dependency_set_id
                from kl_internal.resources as r
                where r.state_id = p_base.state_id
                    and r.closed_no is null
                    and r.path >= p.path collate "C"
                    and r.path < p.path || E'\x08' collate "C"
                offset 0
            ) as r
            cross join lateral (
                select s.config_addresses
                from kl_internal.dependency_sets as s
                where s.id = r.dependency_set_id
                offset 0
            ) as d
        ),
        unguarded as (
            -- Another writer may change these, and act on what this one changes.
            select r.address
            from needed as n
            inner join kl_internal.resources as r
                on r.state_id = p_base.state_id
                and r.closed_no is null
                and hashtextextended(r.config_address, 0) = hashtextextended(n.config_address, 0)
                and r.config_address = n.config_address
            where not v_scopes @> r.path
            union
            select c.address
            from needed as n
            inner join closed as c on c.config_address = n.config_address
            where not v_scopes @> c.path
        )
        select array_agg(m.address order by m.address collate "C")
        from (
            select * from changed
            union
            select * from unguarded
        ) as m
    );
end;
$$;

comment on function kl_internal.moved_since(
    kl_internal.state_versions, uuid, uuid, text[], bigint[]
) is
'The addresses for which a delta on an older base cannot be trusted; null when it can be rebased.

Those in the run''s reserved ranges that somebody else wrote since, and those that what is written
depends on, by the stored and the new lists (staged, or those of p_set_ids), without the run having
reserved them.';
