-- requires: auth/_visible_states.view
create or replace view kl.resource_reservations
with (security_barrier)
as
select
    r.state_id,
    s.name as state_name,
    r.apply_id,
    r.address_glob,
    r.mode,
    r.holder,
    r.principal,
    r.acquired_at,
    r.expires_at,
    r.widened
from kl_internal.resource_reservations as r
inner join kl_internal.visible_states as s on s.id = r.state_id
where r.expires_at > now();

comment on view kl.resource_reservations is
'One row per live reservation: a scope that one apply holds, for reading or for writing.

widened: more is held than address_glob names.
Callers: analysts, server, CLI.';
