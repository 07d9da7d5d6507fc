-- requires: auth/_visible_states.view
create or replace view kl.resource_dependencies
with (security_barrier)
as
select
    s.id as state_id,
    s.name as state_name,
    r.address,
    a.config_address as depends_on,
    t.address as depends_on_address
from kl_internal.visible_states as s
inner join kl_internal.resources as r
    on r.state_id = s.id
    and r.closed_no is null
    and s.current_version_no > 0  -- otherwise its rows are of an upload that is under way
inner join kl_internal.dependency_sets as d on d.id = r.dependency_set_id
cross join lateral unnest(d.config_addresses) as a (config_address)
left join kl_internal.resources as t
    on t.state_id = s.id
    and t.closed_no is null
    and t.deposed = ''
    and hashtextextended(t.config_address, 0) = hashtextextended(a.config_address, 0)
    and t.config_address = a.config_address
    and t.path <> r.path
where r.deposed = '';

comment on view kl.resource_dependencies is
'One row per resource instance and instance it depends on, transitively, as Terraform stored it.

depends_on is the configuration address in the state; it has no instance keys, so it stands for
every instance with it (depends_on_address; null where the state has none).
Callers: analysts, server, CLI.';
