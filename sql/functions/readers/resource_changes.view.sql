-- requires: auth/_visible_states.view
-- requires: readers/_attribute_changes
-- requires: readers/_changed_parts
-- requires: states/_analyst_attributes
-- requires: states/_objects.view
create or replace view kl.resource_changes
with (security_barrier)
as
-- In a subquery: the planner takes a plain union apart, and its barrier with it.
select u.*
from (
    -- Contents that are current, then those that are not: an index serves each.
    select
        s.id as state_id,
        s.name as state_name,
        b.path,
        a.address,
        nullif(a.deposed, '') as deposed_key,
        a.type,
        b.opened_no as old_create_version_no,
        b.closed_no as old_delete_version_no,
        a.opened_no as new_create_version_no,
        a.closed_no as new_delete_version_no,
        kl_internal.attribute_changes(
            b.projection,
            a.projection,
            kl_internal.analyst_attributes(
                b.type, w.terraform_version, b.projection, b.sensitive_attributes
            ),
            kl_internal.analyst_attributes(
                a.type, v.terraform_version, a.projection, a.sensitive_attributes
            )
        ) as changes,
        kl_internal.changed_parts(b, a) as changed_parts
    from kl_internal.visible_states as s
    inner join kl_internal.objects as b
        on b.state_id = s.id
        and b.closed_no is not null
    inner join kl_internal.objects as a
        on a.state_id = s.id
        and a.path = b.path
        and a.opened_no >= b.closed_no
        and a.closed_no is null
    inner join kl_internal.state_versions as v
        on v.state_id = s.id
        and v.version_no = a.opened_no
    inner join kl_internal.state_versions as w
        on w.state_id = s.id
        and w.version_no = b.opened_no
    union all
    select
        s.id as state_id,
        s.name as state_name,
        b.path,
        a.address,
        nullif(a.deposed, '') as deposed_key,
        a.type,
        b.opened_no as old_create_version_no,
        b.closed_no as old_delete_version_no,
        a.opened_no as new_create_version_no,
        a.closed_no as new_delete_version_no,
        kl_internal.attribute_changes(
            b.projection,
            a.projection,
            kl_internal.analyst_attributes(
                b.type, w.terraform_version, b.projection, b.sensitive_attributes
            ),
            kl_internal.analyst_attributes(
                a.type, v.terraform_version, a.projection, a.sensitive_attributes
            )
        ) as changes,
        kl_internal.changed_parts(b, a) as changed_parts
    from kl_internal.visible_states as s
    inner join kl_internal.objects as b
        on b.state_id = s.id
        and b.closed_no is not null
    inner join kl_internal.objects as a
        on a.state_id = s.id
        and a.path = b.path
        and a.opened_no >= b.closed_no
        and a.closed_no is not null
    inner join kl_internal.state_versions as v
        on v.state_id = s.id
        and v.version_no = a.opened_no
    inner join kl_internal.state_versions as w
        on w.state_id = s.id
        and w.version_no = b.opened_no
) as u;

comment on view kl.resource_changes is
'One row per two contents that one resource object had, the old one and any later one.

Where old_delete_version_no = new_create_version_no, the later one took the place of the old one.
Give state_id and a range of path or of version numbers. Callers: analysts, server, CLI.';
comment on column kl.resource_changes.changes is
'[{"path": "a.b[0]", "old": …, "new": …}]: attributes that differ; sensitive values are masked.';
comment on column kl.resource_changes.changed_parts is
'What differs: attributes, tainted, provider, dependencies, private, …';
