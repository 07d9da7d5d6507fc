-- requires: auth/_caller_reach
create or replace view kl_internal.visible_states as
select s.*
from kl_internal.states as s
cross join kl_internal.caller_reach() as g
where s.deleted_at is null
    and (g.environment_ids is null or s.environment_id = any (g.environment_ids))
    and (g.state_prefix is null or starts_with(s.name, g.state_prefix));

comment on view kl_internal.visible_states is
'The states that the caller''s grant covers: every public view starts from here.';
