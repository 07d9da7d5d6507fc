-- requires: auth/_visible_states.view
create or replace view kl.states
with (security_barrier)
as
select
    s.id as state_id,
    s.name as state_name,
    w.public_id || '/' || e.public_id || '/' || s.name as state,
    w.public_id as workspace_id,
    e.public_id as env_public_id,
    v.id as version_id,
    v.version_no,
    v.serial,
    v.lineage,
    v.terraform_version,
    v.object_count,
    v.output_count,
    v.opaque,
    v.source,
    v.actor,
    s.created_at,
    v.created_at as updated_at
from kl_internal.visible_states as s
inner join kl_internal.environments as e on e.id = s.environment_id
inner join kl_internal.workspaces as w on w.id = e.workspace_id
inner join kl_internal.state_versions as v
    on v.state_id = s.id
    and v.version_no = s.current_version_no;

comment on view kl.states is
'One row per state: its identity and its current version.

state is the canonical name ws_…/env_…/NAME. Callers: analysts, server, CLI.';
comment on column kl.states.object_count is
'Resource objects of the current version, deposed ones included.';
comment on column kl.states.opaque is
'The client encrypts this state: there are no resources to query.';
comment on column kl.states.source is 'What wrote the current version.';
