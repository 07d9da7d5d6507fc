-- requires: auth/_visible_states.view
create or replace view kl.apply_runs
with (security_barrier)
as
select
    a.id as apply_id,
    a.state_id,
    s.name as state_name,
    a.from_version_id,
    a.to_version_id,
    a.actor,
    a.principal,
    a.status,
    a.source_serial,
    a.committed_serial,
    a.info,
    a.resources_planned,
    a.resources_applied,
    a.error_summary,
    a.started_at,
    a.finished_at
from kl_internal.apply_runs as a
inner join kl_internal.visible_states as s on s.id = a.state_id;

comment on view kl.apply_runs is
'One row per native apply, whatever came of it: running, committed, failed, aborted or expired.

Callers: analysts, server, CLI.';
