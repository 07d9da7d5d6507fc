-- requires: auth/_visible_states.view
-- requires: states/_analyst_attributes
-- requires: states/_lists_sensitive
-- requires: states/_objects.view
create or replace view kl.resource_history
with (security_barrier)
as
select
    s.id as state_id,
    s.name as state_name,
    r.address,
    r.module,
    r.mode,
    r.type,
    r.name,
    r.index_key,
    nullif(r.deposed, '') as deposed_key,
    coalesce(r.instance_provider, r.provider) as provider,
    coalesce(r.status = 'tainted', false) as tainted,
    coalesce(r.schema_version, 0) as schema_version,
    case
        when r.sensitive_attributes = '[]'
            and r.type <> 'terraform_remote_state'
            and coalesce(t.patterns, '[]') = '[]'
            and kl_internal.lists_sensitive(o.terraform_version) then
            r.projection
        else kl_internal.analyst_attributes(
            r.type,
            o.terraform_version,
            r.projection,
            r.sensitive_attributes
        )
    end as attributes,
    coalesce(r.sensitive_attributes, '[]') as sensitive_attributes,
    r.opened_no as create_version_no,
    o.serial as create_serial,
    o.created_at,
    o.source as create_source,
    o.actor as create_actor,
    r.closed_no as delete_version_no,
    c.serial as delete_serial,
    c.created_at as deleted_at,
    c.source as delete_source,
    c.actor as delete_actor,
    r.path,
    o.run_id as create_run_id
from kl_internal.visible_states as s
inner join kl_internal.objects as r on r.state_id = s.id
inner join kl_internal.state_versions as o
    on o.state_id = s.id
    and o.version_no = r.opened_no
left join kl_internal.sensitive_types as t on t.type = r.type
left join kl_internal.state_versions as c
    on c.state_id = s.id
    and c.version_no = r.closed_no;

comment on view kl.resource_history is
'One row per content that a resource object ever had, for the versions create_version_no up to but
not including delete_version_no; sensitive values are masked.

delete_version_no is null while the content is current; a change closes one row and opens another.
Callers: analysts, server, CLI.';
comment on column kl.resource_history.path is
'Address and deposed key in document order; kl.address_path gives it.';
