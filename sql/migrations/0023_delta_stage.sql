-- A delta is staged by one statement, and what is compared says more.
drop function if exists kl_internal.stage_known_lists(uuid, uuid, jsonb[]);
drop function if exists kl_internal.compare_delta(uuid, uuid);
