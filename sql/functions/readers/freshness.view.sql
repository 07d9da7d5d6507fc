-- requires: auth/_visible_states.view
create or replace view kl.freshness
with (security_barrier)
as
select
    s.id as state_id,
    s.name as state_name,
    w.created_at as last_write_at,
    w.source as last_write_source,
    a.created_at as last_apply_at,
    a.version_no as last_apply_version_no,
    a.actor as last_apply_actor,
    f.finished_at as last_refresh_at,
    f.version_no as last_refresh_version_no,
    f.actor as last_refresh_actor,
    now() - greatest(a.created_at, f.finished_at) as age
from kl_internal.visible_states as s
inner join kl_internal.state_versions as w
    on w.state_id = s.id
    and w.version_no = s.current_version_no
left join lateral (
    select
        v.created_at,
        v.version_no,
        v.actor
    from kl_internal.state_versions as v
    where v.state_id = s.id
        and v.source = 'apply'
    order by v.version_no desc
    limit 1
) as a on true
left join lateral (
    -- A refresh by Kilolock has a run; an imported one has only its version.
    select
        v.created_at as finished_at,
        v.version_no,
        v.actor
    from kl_internal.state_versions as v
    where v.state_id = s.id
        and v.source = 'refresh'
    order by v.version_no desc
    limit 1
) as f on true;

comment on view kl.freshness is
'When each state was last written, applied and refreshed.

age: since its rows were last known to match the world, by an apply or a refresh; null: never.
Callers: analysts, server, CLI.';
comment on column kl.freshness.last_apply_at is
'The last write under the lock of an apply, or by a native commit.';
