create or replace function kl.ack_drift(p_state text, p_address text, p_reason text)
returns bigint
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state kl_internal.states%rowtype;
    v_path  text;
    v_count bigint;
begin
    v_state := kl_internal.require_state(p_state, 'state:write');

    if coalesce(trim(p_reason), '') = '' then
        raise exception using
            errcode = 'KL001',
            message = 'an acknowledgement needs a reason',
            detail = '{}';
    end if;

    v_path := kl.known_path(p_state, p_address);

    insert into kl_internal.drift_acks (
        state_id, path, version_id, reason, actor, acknowledged_at
    )
    select
        v_state.id, d.path, d.detected_at_version_id, p_reason, kl_internal.current_actor(),
        kl_internal.clock()
    from kl.current_resource_drift as d
    where d.state_id = v_state.id
        and d.path >= v_path
        and d.path < v_path || E'\x08'
    on conflict (state_id, path, version_id) do update
    set reason = excluded.reason,
        actor = excluded.actor,
        acknowledged_at = excluded.acknowledged_at;
    get diagnostics v_count = row_count;

    if v_count = 0 then
        raise exception using
            errcode = 'KL203',
            message = format('state %s has no drift at %s', to_json(p_state), p_address),
            detail = jsonb_build_object('state', p_state, 'address', p_address)::text;
    end if;

    perform kl_internal.record_event(v_state.id, v_state.name, 'ack_drift', jsonb_build_object(
        'address', p_address,
        'reason', p_reason
    ));
    return v_count;
end;
$$;

comment on function kl.ack_drift(text, text, text) is
'Acknowledge the drift at an address, with a reason; drift that a later refresh finds is new again.

Returns how many objects that were: without a key, of all instances; deposed ones too.
Locks: none. Raises: KL001, KL101, KL102, KL201, KL203. Callers: CLI.';
