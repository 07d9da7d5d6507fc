-- Who changed what in the last seven days?
-- opened: objects new or changed; closed: objects replaced or removed.
with period as (
    select now() - interval '7 days' as since
)
select
    v.created_at,
    v.state_name,
    v.version_no,
    v.serial,
    v.source,
    v.operation,
    v.actor,
    h.opened,
    h.closed
from period as p
inner join kl.state_versions as v on v.created_at >= p.since
inner join kl.states as s on s.state_id = v.state_id
cross join lateral (
    select o.opened, o.closed
    from kl.state_history(s.state) as o
    where o.version_no = v.version_no
) as h
order by v.created_at desc, v.state_name
limit 100;
