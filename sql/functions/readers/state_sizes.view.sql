-- requires: auth/_visible_states.view
create or replace view kl.state_sizes
with (security_barrier)
as
select
    s.id as state_id,
    s.name as state_name,
    s.current_version_no as versions,
    v.object_count,
    v.output_count,
    r.row_count,
    r.row_count - v.object_count as history_row_count,
    r.bytes,
    r.history_bytes
from kl_internal.visible_states as s
inner join kl_internal.state_versions as v
    on v.state_id = s.id
    and v.version_no = s.current_version_no
cross join lateral (
    select
        count(*) as row_count,
        coalesce(sum(pg_column_size(r.*)), 0)::bigint as bytes,
        coalesce(sum(pg_column_size(r.*)) filter (where r.closed_no is not null), 0)::bigint
            as history_bytes
    from kl_internal.resources as r
    where r.state_id = s.id
) as r;

comment on view kl.state_sizes is
'How much each state holds: objects now, rows and bytes with all of its history.

Bytes are those of the resource rows, without indexes. Reads every row: give a state_id.
Callers: analysts, server, CLI.';
comment on column kl.state_sizes.history_row_count is
'Rows of contents that are no longer current.';
