create or replace function kl_internal.close_instances(
    p_state_id    uuid,
    p_version_no  bigint,
    p_paths       text[],
    p_kept        text[],
    out closed_count  bigint,
    out closed_digest bigint
)
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    with closed as (
        update kl_internal.resources as r
        set closed_no = p_version_no
        from unnest(p_paths) as p (path)
        where r.state_id = p_state_id
            and r.closed_no is null
            and r.path >= p.path collate "C"
            and r.path < p.path || E'\x08' collate "C"
            and r.path <> all (p_kept)
        returning r.content_hash
    )
    select
        count(*),
        coalesce(bit_xor(c.content_hash), 0)
    from closed as c;
$$;

comment on function kl_internal.close_instances(uuid, bigint, text[], text[]) is
'Close the objects at or below some paths, deposed ones too, but for those whose paths are kept.';
