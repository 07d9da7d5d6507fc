create or replace function kl_internal.snapshot_digest(
    p_base_serial     numeric,
    p_base_version_id uuid,
    p_upload_id       uuid,
    p_digest          bytea
)
returns bytea
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    -- p_digest says nothing of what is no object.
    select sha256(
        convert_to(
            concat_ws(E'\n', 'snapshot', p_base_serial, p_base_version_id, encode(p_digest, 'hex')),
            'UTF8'
        )
        || coalesce(
            string_agg(
                sha256(coalesce(s.header, '') || '\x00' || s.slice), '' order by s.kind, s.ordinal
            ),
            ''
        )
    )
    from kl_internal.staged_slices as s
    where s.upload_id = p_upload_id
        and s.kind in ('document', 'output');
$$;

comment on function kl_internal.snapshot_digest(numeric, uuid, uuid, bytea) is
'What tells one snapshot request of a run from another; p_digest: over its objects.';
