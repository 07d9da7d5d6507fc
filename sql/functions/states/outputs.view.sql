-- requires: auth/_visible_states.view
create or replace view kl.outputs
with (security_barrier)
as
select
    s.id as state_id,
    s.name as state_name,
    o.name,
    case when o.sensitive then '"(sensitive value)"'::jsonb else o.value end as value,
    o.type,
    coalesce(o.sensitive, false) as sensitive,
    o.opened_no as create_version_no,
    v.serial as create_serial,
    v.created_at
from kl_internal.visible_states as s
inner join kl_internal.outputs as o
    on o.state_id = s.id
    and o.closed_no is null
inner join kl_internal.state_versions as v
    on v.state_id = s.id
    and v.version_no = o.opened_no;

comment on view kl.outputs is
'One row per root module output of every current state; a sensitive value is masked.

Callers: analysts, server, CLI.';
