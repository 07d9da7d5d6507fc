create or replace function kl_internal.close_resources(
    p_state_id      uuid,
    p_upload_id     uuid,
    p_version_no    bigint,
    p_open          bigint,
    out closed_count  bigint,
    out closed_digest bigint
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_rest_count  bigint;
    v_rest_digest bigint;
begin
    with closed as (
        update kl_internal.resources as r
        set closed_no = p_version_no
        from kl_internal.upload_objects as u
        where u.upload_id = p_upload_id
            and not u.unchanged
            and r.state_id = p_state_id
            and r.closed_no is null
            and r.path = u.path
        returning r.content_hash
    )
    select
        count(*),
        coalesce(bit_xor(c.content_hash), 0)
    into closed_count, closed_digest
    from closed as c;

    -- What has no successor is looked for only when it is there.
    if closed_count < p_open then
        select l.closed_count, l.closed_digest
        into v_rest_count, v_rest_digest
        from kl_internal.close_left_out(p_state_id, p_upload_id, p_version_no) as l;

        closed_count := closed_count + v_rest_count;
        closed_digest := closed_digest # v_rest_digest;
    end if;
end;
$$;

comment on function kl_internal.close_resources(uuid, uuid, bigint, bigint) is
'Close every open row that the uploaded document does not have any more, or has otherwise.

p_open: how many open rows neither match a key nor equal an object.';
