-- requires: upload/_upload_keys
create or replace function kl_internal.close_left_out(
    p_state_id   uuid,
    p_upload_id  uuid,
    p_version_no bigint,
    out closed_count  bigint,
    out closed_digest bigint
)
language sql
volatile
set search_path = pg_catalog, pg_temp
set enable_nestloop = off  -- the stage has no statistics: it is as large as the state
as $$
    with closed as (
        update kl_internal.resources as r
        set closed_no = p_version_no
        where r.state_id = p_state_id
            and r.closed_no is null
            and not exists (
                select
                from kl_internal.upload_keys(p_upload_id) as k
                where k.digest = r.slice_hash
            )
        returning r.content_hash
    )
    select
        count(*),
        coalesce(bit_xor(c.content_hash), 0)
    from closed as c;
$$;

comment on function kl_internal.close_left_out(uuid, uuid, bigint) is
'Close every open row that no key of an upload matches.';
