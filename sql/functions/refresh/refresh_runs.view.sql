-- requires: auth/_visible_states.view
create or replace view kl.refresh_runs
with (security_barrier)
as
select
    r.id as refresh_run_id,
    r.state_id,
    s.name as state_name,
    r.from_version_id,
    f.version_no as from_version_no,
    r.to_version_id,
    t.version_no as to_version_no,
    r.started_at,
    r.finished_at,
    r.resources_checked,
    r.resources_changed,
    r.resources_failed,
    r.resources_superseded,
    r.status,
    r.error_summary,
    r.actor
from kl_internal.refresh_runs as r
inner join kl_internal.visible_states as s on s.id = r.state_id
inner join kl_internal.state_versions as f on f.id = r.from_version_id
left join kl_internal.state_versions as t on t.id = r.to_version_id;

comment on view kl.refresh_runs is
'One row per refresh, whatever came of it: running, succeeded, failed or cancelled.

Callers: analysts, server, CLI.';
