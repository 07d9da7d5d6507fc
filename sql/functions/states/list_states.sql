create or replace function kl.list_states()
returns table (
    name        text,
    state_id    uuid,
    version_no  bigint,
    serial      numeric,
    objects     bigint,
    source      text,
    actor       text,
    written_at  timestamptz,
    opaque      boolean,
    locked_by   text
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform kl_internal.authorize('state:read');

    return query
    select
        kl_internal.qualified_name(s.environment_id, s.name) as name,
        s.id,
        v.version_no,
        v.serial,
        v.object_count,
        v.source,
        v.actor,
        v.created_at,
        v.opaque,
        l.locked_by
    from kl_internal.visible_states as s
    inner join kl_internal.state_versions as v
        on v.state_id = s.id
        and v.version_no = s.current_version_no
    left join lateral (
        select string_agg(
            coalesce(nullif(l.who, ''), l.lock_id), ', ' order by l.acquired_at, l.id
        ) as locked_by
        from kl_internal.state_locks as l
        where l.state_id = s.id
            and (
                l.kind = 'terraform'
                or exists (
                    select
                    from kl_internal.resource_reservations as r
                    where r.apply_id = l.apply_id
                        and r.expires_at > kl_internal.clock()
                )
            )
    ) as l on true
    order by name;
end;
$$;

comment on function kl.list_states() is
'Every state the caller may read, in short: its current version and who holds its locks (null:
nobody).

Locks: none. Raises: KL101, KL102. Callers: server, CLI.';
