-- requires: auth/_visible_states.view
-- requires: readers/_attribute_changes
-- requires: states/_analyst_attributes
-- requires: states/_objects.view
create or replace view kl.current_resource_drift
with (security_barrier)
as
with refreshed as (
    -- What a refresh opened, and what it closed without opening anything in its place.
    select
        r.state_id,
        r.path,
        r.address,
        r.type,
        r.opened_no as version_no,
        r.projection as attributes,
        r.sensitive_attributes
    from kl_internal.objects as r
    inner join kl_internal.state_versions as v
        on v.state_id = r.state_id
        and v.version_no = r.opened_no
        and v.source = 'refresh'
    where r.closed_no is null
    union all
    select
        r.state_id,
        r.path,
        r.address,
        r.type,
        r.closed_no,
        null,
        r.sensitive_attributes
    from kl_internal.state_versions as v
    inner join kl_internal.objects as r
        on r.state_id = v.state_id
        and r.closed_no = v.version_no
    where v.source = 'refresh'
        and not exists (
            select
            from kl_internal.resources as later
            where later.state_id = r.state_id
                and later.path = r.path
                and later.opened_no >= r.closed_no
        )
)
select
    s.name as state_name,
    f.address,
    f.type,
    kl_internal.analyst_attributes(
        f.type, v.terraform_version, f.attributes, f.sensitive_attributes
    ) as current_attributes,
    kl_internal.analyst_attributes(
        f.type, b.terraform_version, coalesce(b.attributes, '{}'), b.sensitive_attributes
    ) as previous_attributes,
    case
        when f.attributes is null then 'deleted'
        when b.schema_version is distinct from c.schema_version then 'upgraded'
        else 'changed'
    end as drift_kind,
    v.serial as detected_at_serial,
    v.id as detected_at_version_id,
    v.created_at as detected_at,
    v.run_id as refresh_run_id,
    s.id as state_id,
    f.path,
    kl_internal.attribute_changes(
        coalesce(b.attributes, '{}'),
        coalesce(f.attributes, '{}'),
        kl_internal.analyst_attributes(
            f.type, b.terraform_version, coalesce(b.attributes, '{}'), b.sensitive_attributes
        ),
        kl_internal.analyst_attributes(
            f.type, v.terraform_version, coalesce(f.attributes, '{}'), f.sensitive_attributes
        )
    ) as changes,
    k.reason as acknowledged_reason,
    k.actor as acknowledged_by,
    k.acknowledged_at
from refreshed as f
inner join kl_internal.visible_states as s
    on s.id = f.state_id
inner join kl_internal.state_versions as v
    on v.state_id = f.state_id
    and v.version_no = f.version_no
left join kl_internal.drift_acks as k
    on k.state_id = f.state_id
    and k.path = f.path
    and k.version_id = v.id
left join kl_internal.resources as c
    on c.state_id = f.state_id
    and c.path = f.path
    and c.closed_no is null
cross join lateral (
    -- The last content that neither a refresh nor a move wrote.
    select
        h.projection as attributes,
        h.sensitive_attributes,
        h.schema_version,
        w.terraform_version
    from kl_internal.objects as h
    inner join kl_internal.state_versions as w
        on w.state_id = h.state_id
        and w.version_no = h.opened_no
        and w.source not in ('refresh', 'move')
    where h.state_id = f.state_id
        and h.path = f.path
        and h.closed_no is not null
    order by h.opened_no desc
    limit 1
) as b
where f.attributes is distinct from coalesce(b.attributes, '{}')
    and not exists (
        select
        from kl_internal.state_versions as a
        where a.state_id = f.state_id
            and a.source = 'apply'
            and a.version_no > f.version_no
    );

comment on view kl.current_resource_drift is
'One row per resource object that a refresh found changed or gone and no apply has settled since;
sensitive values are masked.

drift_kind: changed, deleted, or upgraded (its schema version rose). Callers: analysts, CLI.';
comment on column kl.current_resource_drift.previous_attributes is
'As last written by anything but a refresh or a move.';
comment on column kl.current_resource_drift.changes is
'The attribute paths that differ: [{"path", "old", "new"}], sensitive values masked.';
comment on column kl.current_resource_drift.acknowledged_reason is
'Why somebody set it aside; null while nobody did.';
