-- requires: auth/_caller_reach, auth/_visible_states.view
create or replace view kl.events
with (security_barrier)
as
select
    e.id as event_id,
    e.occurred_at,
    e.state_id,
    e.state_name,
    e.kind,
    e.actor,
    e.principal,
    e.detail
from kl_internal.events as e
cross join kl_internal.caller_reach() as g
where (g.environment_ids is null and g.state_prefix is null)
    or e.state_id in (
        select s.id
        from kl_internal.visible_states as s
    );

comment on view kl.events is
'The audit trail: locks, forced writes, imports, deletions and what else no version shows.

kinds: lock, unlock, force_unlock, forced_write, import, became_opaque, delete, tag_set, tag_unset,
native_lock, native_unlock.
Callers: analysts, server, CLI.';
