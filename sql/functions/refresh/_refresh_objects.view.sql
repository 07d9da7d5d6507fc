create or replace view kl_internal.refresh_objects as
select
    n.id as refresh_run_id,
    v.version_no as base_version_no,
    r.id as resource_id,
    r.state_id,
    r.opened_no,
    r.closed_no,
    r.path,
    r.address,
    r.type,
    r.deposed,
    coalesce(r.instance_provider, r.provider) as provider,
    coalesce(r.schema_version, 0) as schema_version,
    coalesce(r.attributes_spelling, r.attributes) as attributes,
    r.attributes_flat,
    r.sensitive_attributes,
    r.private,
    coalesce(r.identity_spelling, r.identity) as identity,
    r.identity_schema_version,
    r.escaped
from kl_internal.refresh_runs as n
inner join kl_internal.state_versions as v on v.id = n.from_version_id
inner join kl_internal.resources as r
    on r.state_id = n.state_id
    and r.mode = 'managed'
    and r.opened_no <= v.version_no
    and (r.closed_no is null or r.closed_no > v.version_no);

comment on view kl_internal.refresh_objects is
'The managed objects of the version that a refresh run started from, deposed ones included.';
