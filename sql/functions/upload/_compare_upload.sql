-- requires: upload/_upload_keys
create or replace function kl_internal.compare_upload(
    p_state     kl_internal.states,
    p_upload_id uuid
)
returns kl_internal.upload_comparisons
language sql
volatile
set search_path = pg_catalog, pg_temp
set enable_nestloop = off  -- the stage has no statistics: it is as large as the state
set work_mem = '64MB'
as $$
    insert into kl_internal.upload_comparisons as c (
        upload_id, state_id, version_no, slices_no, matched_rows, unmatched
    )
    select
        p_upload_id,
        p_state.id,
        p_state.current_version_no,
        p_state.slices_no,
        count(distinct r.id),
        coalesce(array_agg(k.ordinal order by k.ordinal) filter (where r.id is null), '{}')
    from kl_internal.upload_keys(p_upload_id) as k
    left join kl_internal.resources as r
        on p_state.current_version_no > 0  -- otherwise its rows are claimed, not open
        and r.state_id = p_state.id
        and r.closed_no is null
        and r.slice_hash = k.digest
    on conflict (upload_id) do update
    set
        state_id = excluded.state_id,
        version_no = excluded.version_no,
        slices_no = excluded.slices_no,
        matched_rows = excluded.matched_rows,
        unmatched = excluded.unmatched
    returning c.*;
$$;

comment on function kl_internal.compare_upload(kl_internal.states, uuid) is
'Compare the keys of an upload with the open rows of a state, and remember the outcome.

unmatched: the objects that no open row has as they came. matched_rows: the open rows that stay.';
