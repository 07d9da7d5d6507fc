-- requires: auth/_visible_states.view
create or replace view kl.version_tags
with (security_barrier)
as
select
    s.id as state_id,
    s.name as state_name,
    t.name as tag,
    t.version_no,
    v.id as version_id,
    v.serial,
    t.actor,
    t.principal,
    t.created_at
from kl_internal.visible_states as s
inner join kl_internal.version_tags as t on t.state_id = s.id
inner join kl_internal.state_versions as v
    on v.state_id = s.id
    and v.version_no = t.version_no;

comment on view kl.version_tags is
'One row per name that somebody gave to a version of a state.

Callers: analysts, server, CLI.';
