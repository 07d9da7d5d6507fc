-- Who calls is resolved once, and handed on.
drop function if exists kl_internal.authorize(text);
drop function if exists kl_internal.authorize_place(uuid, text);
drop function if exists kl_internal.find_state(text);
drop function if exists kl_internal.resolve_name(text);
drop function if exists kl_internal.successor_version(kl_internal.states, text, text);

-- A plain delta stays in memory, and is not staged.
drop function if exists kl_internal.stage_delta(uuid, uuid, kl_internal.delta);
drop function if exists kl_internal.insert_delta(uuid, json, jsonb);
drop function if exists kl_internal.moved_since(
    kl_internal.state_versions, uuid, uuid, text[]
);
drop function if exists kl_internal.require_unmoved(
    kl_internal.state_versions, kl_internal.states, uuid, uuid, text[], text[]
);
drop function if exists kl_internal.delta_headers(json, jsonb);
