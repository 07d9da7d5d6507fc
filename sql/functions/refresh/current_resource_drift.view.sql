-- requires: auth/_visible_states.view
-- requires: readers/_attribute_changes
-- requires: refresh/_baseline_contents.view
-- requires: refresh/_drift_kind
-- requires: states/_analyst_attributes
-- requires: states/_objects.view
create or replace view kl.current_resource_drift
with (security_barrier)
as
with refreshes as materialized (
    -- Those that no apply of the whole state has settled. The first version has nothing before it.
    select
        s.id as state_id,
        s.name as state_name,
        v.version_no,
        v.id as version_id,
        v.serial,
        v.created_at,
        v.run_id,
        v.terraform_version
    from kl_internal.visible_states as s
    inner join kl_internal.state_versions as v
        on v.state_id = s.id
        and v.source = 'refresh'
        and v.version_no > 1
    where v.version_no > coalesce(
        (
            select max(a.version_no)
            from kl_internal.state_versions as a
            where a.state_id = s.id
                and a.source = 'apply'
                and a.written_scopes is null
        ),
        0
    )
),
found as (
    -- What a refresh opened, and what it closed without opening anything in its place.
    select
        v.*,
        r.path,
        r.address,
        r.deposed,
        r.type,
        r.schema_version,
        r.projection as attributes,
        r.sensitive_attributes
    from refreshes as v
    inner join kl_internal.objects as r
        on r.state_id = v.state_id
        and r.opened_no = v.version_no
        and r.closed_no is null
    union all
    select
        v.*,
        r.path,
        r.address,
        r.deposed,
        r.type,
        r.schema_version,
        null,
        r.sensitive_attributes
    from refreshes as v
    inner join kl_internal.resources as r
        on r.state_id = v.state_id
        and r.closed_no = v.version_no
    -- Scalar, so that an index is asked for each and the state is not hashed for a few.
    where (
            select n.id
            from kl_internal.resources as n
            where n.state_id = r.state_id
                and n.path = r.path
                and n.closed_no is null
        ) is null
        and (
            select max(n.closed_no)
            from kl_internal.resources as n
            where n.state_id = r.state_id
                and n.path = r.path
                and n.closed_no >= r.closed_no
        ) = r.closed_no
)
select
    f.state_name,
    f.address,
    f.type,
    m.current_attributes,
    m.previous_attributes,
    case
        when f.attributes is null then 'deleted'
        when b.attributes_flat is null
            and coalesce(f.schema_version, 0) = coalesce(b.schema_version, 0) then 'changed'
        else kl_internal.drift_kind(f.state_id, f.path, b.opened_no, f.version_no)
    end as drift_kind,
    f.serial as detected_at_serial,
    f.version_id as detected_at_version_id,
    f.created_at as detected_at,
    f.run_id as refresh_run_id,
    f.state_id,
    f.path,
    kl_internal.attribute_changes(
        b.projection,
        coalesce(f.attributes, '{}'),
        m.previous_attributes,
        coalesce(m.current_attributes, '{}')
    ) as changes,
    k.reason as acknowledged_reason,
    k.actor as acknowledged_by,
    k.acknowledged_at,
    nullif(f.deposed, '') as deposed_key
from found as f
cross join lateral (
    select h.*
    from kl_internal.baseline_contents as h
    where h.state_id = f.state_id
        and h.path = f.path
        and h.closed_no <= f.version_no
    order by h.moved, h.opened_no desc
    limit 1
) as b
cross join lateral (
    select
        kl_internal.analyst_attributes(
            f.type, f.terraform_version, f.attributes, f.sensitive_attributes
        ) as current_attributes,
        kl_internal.analyst_attributes(
            f.type, b.terraform_version, b.projection, b.sensitive_attributes
        ) as previous_attributes
    offset 0  -- so that each is masked once
) as m
left join kl_internal.drift_acks as k
    on k.state_id = f.state_id
    and k.path = f.path
    and k.version_id = f.version_id
where f.attributes is distinct from b.projection
    and not exists (
        -- A native apply settles what it had reserved.
        select
        from kl_internal.state_versions as a
        where a.state_id = f.state_id
            and a.source = 'apply'
            and a.version_no > f.version_no
            and a.written_scopes @> f.path
    );

comment on view kl.current_resource_drift is
'One row per resource object that a refresh found changed or gone and no apply has settled since;
sensitive values are masked.

drift_kind: changed, deleted, or upgraded (the provider rewrote it for a newer schema, and that is
all that differs). Callers: analysts, CLI.';
comment on column kl.current_resource_drift.previous_attributes is
'As last written by anything but a refresh or a move.';
comment on column kl.current_resource_drift.changes is
'The attribute paths that differ: [{"path", "old", "new"}], sensitive values masked.';
comment on column kl.current_resource_drift.acknowledged_reason is
'Why somebody set it aside; null while nobody did.';
comment on column kl.current_resource_drift.deposed_key is
'Null for the current object of the address.';
