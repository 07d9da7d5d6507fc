create or replace function kl_internal.scope_document(
    p_state   kl_internal.states,
    p_version kl_internal.state_versions,
    p_lists   kl_internal.scope_lists,
    p_verdict jsonb,
    p_started timestamptz
)
returns text
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    -- What the contract has and the first clients look for beside it.
    v_shared text := concat(
        '"fetch_addresses":', p_lists.fetches,
        ',"missing_from_state":', p_lists.absent,
        ',"undeployed_candidates":', p_lists.planned,
        ',"unknown_missing_from_state":', p_lists.unknown,
        ',"reservation_candidates":', p_lists.reservations,
        ',"confidence":', p_verdict -> 'confidence',
        ',"notes":', p_verdict -> 'notes'
    );
begin
    return concat(
        '{"state":', to_json(kl_internal.canonical_name(p_state)),
        ',"state_id":"', p_state.id,
        '","serial":', p_version.serial,
        ',"version_id":"', p_version.id,
        '","contract_source":"backend_authoritative","scope_contract":{', v_shared,
        ',"write_addresses":', p_lists.writes,
        ',"read_addresses":', p_lists.reads,
        ',"config_required_nodes":', p_lists.planned,
        ',"removed_config_nodes":', p_lists.removed,
        ',"culprits":', p_verdict -> 'culprits',
        '},', v_shared,
        ',"realized_write_closure":', p_lists.writes,
        ',"realized_read_closure":', p_lists.reads,
        ',"diagnostics":', json_build_object(
            'writes', p_lists.write_count,
            'reads', p_lists.read_count,
            'to_create', p_lists.planned_count,
            'unknown', p_lists.unknown_count,
            'culprits', jsonb_array_length(p_verdict -> 'culprits'),
            'milliseconds', round(
                extract(epoch from clock_timestamp() - p_started)::numeric * 1000, 3
            )
        ),
        '}'
    );
end;
$$;

comment on function kl_internal.scope_document(
    kl_internal.states, kl_internal.state_versions, kl_internal.scope_lists, jsonb, timestamptz
) is
'The answer to an expansion: the contract, its lists again where the first clients look for them.';
