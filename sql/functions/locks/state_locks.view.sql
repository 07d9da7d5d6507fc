-- requires: auth/_visible_states.view
create or replace view kl.state_locks
with (security_barrier)
as
select
    s.id as state_id,
    s.name as state_name,
    l.kind,
    l.lock_id,
    l.operation,
    l.who,
    l.principal,
    l.apply_id,
    l.acquired_at,
    now() - l.acquired_at as age
from kl_internal.state_locks as l
inner join kl_internal.visible_states as s on s.id = l.state_id
where l.kind = 'terraform'
    or exists (
        select
        from kl_internal.resource_reservations as r
        where r.apply_id = l.apply_id
            and r.expires_at > now()
    );

comment on view kl.state_locks is
'One row per lock that a plain Terraform sees: its own (kind terraform) or a native writer''s.

A terraform lock has no lease; its age says whether it may be stale. A native one is there while its
run has a live reservation.
Callers: analysts, server, CLI.';
