create or replace function kl_internal.scope_document(
    p_state    kl_internal.states,
    p_version  kl_internal.state_versions,
    p_contract jsonb,
    p_started  timestamptz
)
returns jsonb
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        select jsonb_build_object(
            'state', kl_internal.canonical_name(p_state),
            'state_id', p_state.id,
            'serial', p_version.serial,
            'version_id', p_version.id,
            'contract_source', 'backend_authoritative',
            'scope_contract', p_contract,
            'fetch_addresses', p_contract -> 'fetch_addresses',
            'realized_write_closure', p_contract -> 'write_addresses',
            'realized_read_closure', p_contract -> 'read_addresses',
            'missing_from_state', p_contract -> 'missing_from_state',
            'undeployed_candidates', p_contract -> 'undeployed_candidates',
            'unknown_missing_from_state', p_contract -> 'unknown_missing_from_state',
            'reservation_candidates', p_contract -> 'reservation_candidates',
            'confidence', p_contract -> 'confidence',
            'notes', p_contract -> 'notes',
            'diagnostics', jsonb_build_object(
                'writes', jsonb_array_length(p_contract -> 'write_addresses'),
                'reads', jsonb_array_length(p_contract -> 'read_addresses'),
                'to_create', jsonb_array_length(p_contract -> 'config_required_nodes'),
                'unknown', jsonb_array_length(p_contract -> 'unknown_missing_from_state'),
                'culprits', jsonb_array_length(p_contract -> 'culprits'),
                'milliseconds', round(
                    extract(epoch from clock_timestamp() - p_started)::numeric * 1000, 3
                )
            )
        )
    );
end;
$$;

comment on function kl_internal.scope_document(
    kl_internal.states, kl_internal.state_versions, jsonb, timestamptz
) is
'The answer to an expansion: the contract, its lists again where the first clients look for them.';
