create or replace view kl.events as
select
    e.id as event_id,
    e.occurred_at,
    e.state_id,
    e.state_name,
    e.kind,
    e.actor,
    e.principal,
    e.detail
from kl_internal.events as e;

comment on view kl.events is
'The audit trail: locks, forced writes, imports, deletions and what else no version shows.

kinds: lock, unlock, force_unlock, forced_write, import, became_opaque, delete.
Callers: analysts, server, CLI.';
