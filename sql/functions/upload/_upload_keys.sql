create or replace function kl_internal.upload_keys(p_upload_id uuid)
returns table (ordinal integer, digest bytea)
language sql
stable
as $$
    select
        (k.first_ordinal + d.position - 1)::integer,
        d.digest
    from kl_internal.staged_keys as k
    cross join lateral pg_catalog.unnest(k.digests) with ordinality as d (digest, position)
    where k.upload_id = p_upload_id;
$$;

comment on function kl_internal.upload_keys(uuid) is
'The staged digests of an upload with their ordinals. Inlined.';
