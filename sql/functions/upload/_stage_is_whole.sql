create or replace function kl_internal.stage_is_whole(
    p_upload_id uuid,
    p_objects   bigint,
    p_digest    bytea
)
returns boolean
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    -- After a crash the unlogged stage is empty: that is a lost upload, never an empty state. Runs
    -- are put in order, and each in itself: to sort all keys would take twice as long.
    select coalesce(sum(cardinality(k.digests)), 0) = p_objects
        and sha256(coalesce(string_agg(r.digests, ''::bytea order by k.first_ordinal), ''))
            = p_digest
        and exists (
            select
            from kl_internal.staged_slices as s
            where s.upload_id = p_upload_id
                and s.kind = 'document'
        )
    from kl_internal.staged_keys as k
    cross join lateral (
        select string_agg(d.digest, ''::bytea order by d.position) as digests
        from unnest(k.digests) with ordinality as d (digest, position)
    ) as r
    where k.upload_id = p_upload_id;
$$;

comment on function kl_internal.stage_is_whole(uuid, bigint, bytea) is
'Whether the stage holds what the client counted: so many keys, with that digest of their digests.';
