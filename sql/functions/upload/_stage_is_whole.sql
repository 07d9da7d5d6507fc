-- requires: upload/_upload_keys
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
    -- After a crash the unlogged stage is empty: that is a lost upload, never an empty state.
    select count(*) = p_objects
        and sha256(coalesce(string_agg(k.digest, ''::bytea order by k.ordinal), '')) = p_digest
        and exists (
            select
            from kl_internal.staged_slices as s
            where s.upload_id = p_upload_id
                and s.kind = 'document'
        )
    from kl_internal.upload_keys(p_upload_id) as k;
$$;

comment on function kl_internal.stage_is_whole(uuid, bigint, bytea) is
'Whether the stage holds what the client counted: so many keys, with that digest of their digests.';
