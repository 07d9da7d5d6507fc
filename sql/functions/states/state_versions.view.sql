-- requires: auth/_visible_states.view
create or replace view kl.state_versions
with (security_barrier)
as
select
    v.id as version_id,
    v.state_id,
    s.name as state_name,
    v.version_no,
    v.serial,
    v.lineage,
    v.source,
    v.operation,
    v.actor,
    v.principal,
    v.run_id,
    v.terraform_version,
    v.object_count,
    v.output_count,
    v.opaque,
    v.created_at,
    v.version_no = s.current_version_no as is_current
from kl_internal.state_versions as v
inner join kl_internal.visible_states as s on s.id = v.state_id;

comment on view kl.state_versions is
'One row per write of a state that exists, newest or not. "select v.raw_state from
state_versions as v" renders the document.

Callers: analysts, server, CLI.';
comment on column kl.state_versions.version_no is 'Ours: 1, 2, 3, … per state.';
comment on column kl.state_versions.serial is 'Terraform''s: may repeat or fall.';
comment on column kl.state_versions.source is
'import, http_backend, apply, refresh, rollback, remove or move.';
comment on column kl.state_versions.operation is
'The Operation of the lock that the write went under.';
