create or replace function kl_internal.operation_preview(
    p_operation  text,
    p_state      kl_internal.states,
    p_objects    jsonb,
    p_dependents kl_internal.resources[],
    p_conflicts  jsonb,
    p_warnings   text[]
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_current kl_internal.state_versions%rowtype;
begin
    v_current := kl_internal.resolve_version(p_state, 'current');
    return jsonb_build_object(
        'operation', p_operation,
        'state', kl_internal.qualified_name(p_state.environment_id, p_state.name),
        'base_serial', v_current.serial,
        'base_version_id', v_current.id,
        'objects', p_objects,
        'dependents', kl_internal.listed_objects(p_dependents),
        'conflicts', coalesce(p_conflicts, '[]'),
        'warnings', to_jsonb(p_warnings),
        'touches_cloud_objects', false,
        'note', 'only the state changes: no cloud object is created, changed or destroyed'
    );
end;
$$;

comment on function kl_internal.operation_preview(
    text, kl_internal.states, jsonb, kl_internal.resources[], jsonb, text[]
) is
'What an operation on a state would do, or did, as its answer shows it.';
