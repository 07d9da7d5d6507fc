-- requires: auth/_visible_states.view
-- requires: readers/_remote_state_name
-- requires: states/_masked_attributes
-- requires: states/_objects.view
create or replace view kl.remote_state_reads
with (security_barrier)
as
select
    s.id as state_id,
    s.name as state_name,
    r.address,
    n.name as reads_state,
    t.id as reads_state_id,
    v.created_at as read_since
from kl_internal.visible_states as s
inner join kl_internal.objects as r
    on r.state_id = s.id
    and r.closed_no is null
    and r.mode = 'data'
    and r.type = 'terraform_remote_state'
inner join kl_internal.state_versions as v
    on v.state_id = s.id
    and v.version_no = r.opened_no
cross join lateral (
    select kl_internal.masked_attributes(
        r.projection, r.sensitive_attributes
    ) as attributes
) as m
cross join lateral (
    select kl_internal.remote_state_name(
        coalesce(m.attributes #>> '{config,value,address}', m.attributes #>> '{config,address}')
    ) as name
) as n
left join lateral (
    select o.id
    from kl_internal.visible_states as o
    inner join kl_internal.environments as e on e.id = o.environment_id
    inner join kl_internal.workspaces as w on w.id = e.workspace_id
    where n.name = w.public_id || '/' || e.public_id || '/' || o.name
        or (n.name = o.name and w.name = 'default' and e.name = 'default')
    limit 1
) as t on true
where m.attributes ->> 'backend' = 'http'
    and n.name is not null;

comment on view kl.remote_state_reads is
'One row per terraform_remote_state data source that reads a state by the HTTP backend''s URL.

The server''s host is not compared: it may have several names. Callers: analysts, server, CLI.';
comment on column kl.remote_state_reads.reads_state is
'The name in the URL: NAME in the default environment, or ws_…/env_…/NAME.';
comment on column kl.remote_state_reads.reads_state_id is 'Null where no state has that name now.';
