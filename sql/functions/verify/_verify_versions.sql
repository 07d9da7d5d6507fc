-- requires: verify/_version_changes, verify/_version_hash
create or replace function kl_internal.verify_versions(
    p_state_id    uuid,
    p_version_no  bigint,
    p_after_no    bigint,
    p_limit       integer,
    p_digest      bigint,
    p_objects     bigint,
    p_outputs     bigint,
    out last_no   bigint,
    out digest    bigint,
    out objects   bigint,
    out outputs   bigint,
    out damage    jsonb
)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    with totals as materialized (
        select
            c.version_no,
            p_digest # bit_xor(c.digest) over upwards as digest,
            p_objects + (sum(c.objects) over upwards)::bigint as objects,
            p_outputs + (sum(c.outputs) over upwards)::bigint as outputs
        from kl_internal.version_changes(
            p_state_id, p_after_no, least(p_after_no + p_limit, p_version_no)
        ) as c
        window upwards as (order by c.version_no)
    ),
    compared as (
        select
            t.version_no,
            v.id is null as is_missing,
            v.row_hash is not null and v.row_hash <> kl_internal.version_hash(v) as is_changed,
            v.content_digest # t.digest as digest,
            v.object_count - t.objects as objects,
            v.output_count - t.outputs as outputs,
            v.opaque and (
                select count(*) = 0 or count(*) <> max(c.chunk_no) + 1
                from kl_internal.opaque_chunks as c
                where c.version_id = v.id
            ) as lacks_bytes
        from totals as t
        left join kl_internal.state_versions as v
            on v.state_id = p_state_id
            and v.version_no = t.version_no
    ),
    numbered as (
        select
            c.*,
            c.version_no - row_number() over (
                partition by c.is_missing, c.is_changed, c.digest, c.objects, c.outputs,
                    c.lacks_bytes
                order by c.version_no
            ) as island
        from compared as c
        where c.is_missing
            or c.is_changed
            or c.digest <> 0
            or c.objects <> 0
            or c.outputs <> 0
            or c.lacks_bytes
    ),
    findings as (
        select
            min(n.version_no) as first_no,
            max(n.version_no) as last_no,
            n.digest,
            concat_ws(
                '; ',
                case when n.is_missing then 'the version is missing' end,
                case when n.is_changed then 'the version''s own row was changed' end,
                case when n.objects > 0 then format('%s resource rows are missing', n.objects) end,
                case when n.objects < 0 then
                    format('%s resource rows are too many', -n.objects) end,
                case when n.outputs > 0 then format('%s outputs are missing', n.outputs) end,
                case when n.outputs < 0 then format('%s outputs are too many', -n.outputs) end,
                case when n.digest <> 0 and n.objects = 0 and n.outputs = 0 then
                    'the digest is not that of the rows' end,
                case when n.lacks_bytes then 'bytes of the encrypted document are missing' end
            ) as problem
        from numbered as n
        group by n.is_missing, n.is_changed, n.digest, n.objects, n.outputs, n.lacks_bytes,
            n.island
    )
    select
        max(t.version_no),
        (array_agg(t.digest order by t.version_no desc))[1],
        (array_agg(t.objects order by t.version_no desc))[1],
        (array_agg(t.outputs order by t.version_no desc))[1],
        (
            select jsonb_agg(
                jsonb_build_object(
                    'kind', 'versions',
                    -- One row too many has the hash that is left over.
                    'address', (
                        select min(r.address)
                        from kl_internal.resources as r
                        where r.state_id = p_state_id
                            and r.opened_no = f.first_no
                            and r.content_hash = f.digest
                    ),
                    'problem', f.problem,
                    'from_version_no', f.first_no,
                    'to_version_no', f.last_no
                )
                order by f.first_no, f.last_no
            )
            from findings as f
        )
    from totals as t;
$$;

comment on function kl_internal.verify_versions(
    uuid, bigint, bigint, integer, bigint, bigint, bigint
) is
'Add up hashes and counts of the rows version by version and compare with what each version says.

A run of versions after p_after_no, with the totals at that one; gives the totals at last_no (null:
there was no more). damage is null or an array of findings, each a range of versions that are off by
the same.';
