-- requires: auth/_visible_states.view
-- requires: readers/_attribute_changes
-- requires: refresh/_baseline_contents.view
-- requires: refresh/_drift_kind
-- requires: states/_analyst_attributes
-- requires: states/_objects.view
create or replace view kl.drift_findings
with (security_barrier)
as
with refreshes as materialized (
    select
        s.id as state_id,
        s.name as state_name,
        v.version_no,
        v.id as version_id,
        v.serial,
        v.created_at,
        v.actor,
        v.run_id,
        v.terraform_version
    from kl_internal.visible_states as s
    inner join kl_internal.state_versions as v
        on v.state_id = s.id
        and v.source = 'refresh'
        and v.version_no > 1
),
found as (
    -- ended_no: the version since which something else is there.
    select
        v.*,
        r.path,
        r.address,
        r.deposed,
        r.type,
        r.schema_version,
        r.closed_no as ended_no,
        r.projection as attributes,
        r.sensitive_attributes
    from refreshes as v
    inner join kl_internal.objects as r
        on r.state_id = v.state_id
        and r.opened_no = v.version_no
    union all
    select
        v.*,
        r.path,
        r.address,
        r.deposed,
        r.type,
        r.schema_version,
        l.ended_no,
        null,
        r.sensitive_attributes
    from refreshes as v
    inner join kl_internal.resources as r
        on r.state_id = v.state_id
        and r.closed_no = v.version_no
    cross join lateral (
        -- An index serves what is open, another what is not.
        select least(
            (
                select min(n.opened_no)
                from kl_internal.resources as n
                where n.state_id = r.state_id
                    and n.path = r.path
                    and n.closed_no is null
            ),
            (
                select min(n.opened_no)
                from kl_internal.resources as n
                where n.state_id = r.state_id
                    and n.path = r.path
                    and n.closed_no > r.closed_no
            )
        ) as ended_no
    ) as l
    where l.ended_no is distinct from r.closed_no
)
select
    f.state_id,
    f.state_name,
    f.path,
    f.address,
    nullif(f.deposed, '') as deposed_key,
    f.type,
    case
        when f.attributes is null then 'deleted'
        when b.attributes_flat is null
            and coalesce(f.schema_version, 0) = coalesce(b.schema_version, 0) then 'changed'
        else kl_internal.drift_kind(f.state_id, f.path, b.opened_no, f.version_no)
    end as drift_kind,
    f.version_no as found_version_no,
    f.version_id as found_version_id,
    f.serial as found_serial,
    f.created_at as found_at,
    f.run_id as refresh_run_id,
    f.actor as found_by,
    m.found_attributes,
    m.previous_attributes,
    kl_internal.attribute_changes(
        b.projection,
        coalesce(f.attributes, '{}'),
        m.previous_attributes,
        coalesce(m.found_attributes, '{}')
    ) as changes,
    case
        when k.acknowledged_at < coalesce(c.created_at, 'infinity') then 'acknowledgement'
        else c.source
    end as cleared_by,
    least(k.acknowledged_at, c.created_at) as cleared_at,
    c.version_no as settled_version_no,
    c.source as settled_by,
    c.run_id as settled_run_id,
    c.actor as settled_actor,
    k.reason as acknowledged_reason,
    k.actor as acknowledged_by,
    k.acknowledged_at
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
        ) as found_attributes,
        kl_internal.analyst_attributes(
            f.type, b.terraform_version, b.projection, b.sensitive_attributes
        ) as previous_attributes
    offset 0  -- so that each is masked once
) as m
cross join lateral (
    select min(a.version_no) as version_no
    from kl_internal.state_versions as a
    where a.state_id = f.state_id
        and a.source = 'apply'
        and a.version_no > f.version_no
        and (a.written_scopes is null or a.written_scopes @> f.path)
) as a
left join kl_internal.state_versions as c
    on c.state_id = f.state_id
    and c.version_no = least(f.ended_no, a.version_no)
left join kl_internal.drift_acks as k
    on k.state_id = f.state_id
    and k.path = f.path
    and k.version_id = f.version_id
where f.attributes is distinct from b.projection;

comment on view kl.drift_findings is
'One row per drift that a refresh ever found, and what became of it; sensitive values are masked.

drift_kind as in kl.current_resource_drift, which has those with no settled_version_no. Callers:
analysts, CLI.';
comment on column kl.drift_findings.previous_attributes is
'As last written before by anything but a refresh or a move.';
comment on column kl.drift_findings.found_attributes is
'As the refresh found them; null when it found nothing.';
comment on column kl.drift_findings.cleared_by is
'What set it aside first: acknowledgement, or the source of the version that settled it (apply;
refresh: a later one found something else; whatever else wrote there). Null while nothing has.';
comment on column kl.drift_findings.settled_version_no is
'The version that settled it: an apply over it, or any write that put something else there.';
