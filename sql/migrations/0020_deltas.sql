-- A repeated commit is found by its digest: a run may have made thousands of versions.
create index state_versions_request_idx
    on kl_internal.state_versions (run_id, request_digest)
    where run_id is not null;

drop index kl_internal.state_versions_run_id_idx;

-- A delta is read in one pass, and compared with its rows before any is closed.
drop function if exists kl_internal.lock_live_state(text);
drop function if exists kl_internal.checked_member(json, text, text, text);
drop function if exists kl_internal.split_resources(json, text);
drop function if exists kl_internal.stage_delta(uuid, kl_internal.delta);
drop function if exists kl_internal.close_instances(uuid, uuid, bigint, text[]);
