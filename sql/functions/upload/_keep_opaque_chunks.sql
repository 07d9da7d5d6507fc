create or replace function kl_internal.keep_opaque_chunks(
    p_draft     kl_internal.state_versions,
    p_upload_id uuid
)
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    insert into kl_internal.opaque_chunks (version_id, chunk_no, bytes)
    select
        p_draft.id,
        s.ordinal,
        s.slice
    from kl_internal.staged_slices as s
    where p_draft.opaque
        and s.upload_id = p_upload_id
        and s.kind = 'opaque';
$$;

comment on function kl_internal.keep_opaque_chunks(kl_internal.state_versions, uuid) is
'Keep the exact bytes of a document that the client encrypted.';
