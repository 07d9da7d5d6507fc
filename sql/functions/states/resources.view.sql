-- requires: auth/_visible_states.view
-- requires: states/_analyst_attributes
-- requires: states/_lists_sensitive
-- requires: states/_objects.view
create or replace view kl.resources
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
            and kl_internal.lists_sensitive(v.terraform_version) then
            r.projection
        else kl_internal.analyst_attributes(
            r.type,
            v.terraform_version,
            r.projection,
            r.sensitive_attributes
        )
    end as attributes,
    coalesce(r.sensitive_attributes, '[]') as sensitive_attributes,
    coalesce(d.addresses, '{}') as dependencies,
    coalesce(r.create_before_destroy, false) as create_before_destroy,
    r.opened_no as create_version_no,
    v.serial as create_serial,
    v.created_at as created_at,
    r.config_address,
    r.path
from kl_internal.visible_states as s
inner join kl_internal.objects as r
    on r.state_id = s.id
    and r.closed_no is null
inner join kl_internal.state_versions as v
    on v.state_id = s.id
    and v.version_no = r.opened_no
left join kl_internal.sensitive_types as t on t.type = r.type
left join kl_internal.dependency_sets as d on d.id = r.dependency_set_id;

comment on view kl.resources is
'One row per resource object of every current state; sensitive values are masked.

A deposed object shares the address of its current one: count(distinct address) counts instances.
Callers: analysts, server, CLI.';
comment on column kl.resources.address is 'The instance address as Terraform prints it.';
comment on column kl.resources.index_key is 'The key of count (a number) or for_each (a string).';
comment on column kl.resources.deposed_key is 'Null for the current object of the address.';
comment on column kl.resources.provider is
'The provider configuration address, alias and module included.';
comment on column kl.resources.dependencies is
'Configuration addresses, transitive, as Terraform stored them.';
comment on column kl.resources.create_version_no is
'The version_no since which the object is as it is now.';
comment on column kl.resources.config_address is 'The address without any instance key.';
comment on column kl.resources.path is
'Address and deposed key in document order; kl.address_path gives it.';
