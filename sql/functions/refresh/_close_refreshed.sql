-- requires: refresh/_compared_reads.view
create or replace function kl_internal.close_refreshed(
    p_refresh_run_id uuid,
    p_version_no     bigint,
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
        from kl_internal.compared_reads as c
        where c.refresh_run_id = p_refresh_run_id
            and c.changed
            and not c.superseded
            and r.id = (c.base).id
            and r.closed_no is null
        returning r.content_hash
    )
    select
        count(*),
        coalesce(bit_xor(c.content_hash), 0)
    from closed as c;
$$;

comment on function kl_internal.close_refreshed(uuid, bigint) is
'Close the rows that a refresh found changed or gone, but for what somebody else wrote since.';
