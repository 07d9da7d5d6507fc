create or replace function kl_internal.require_unmoved(
    p_base      kl_internal.state_versions,
    p_state     kl_internal.states,
    p_run_id    uuid,
    p_upload_id uuid,
    p_paths     text[],
    p_set_ids   bigint[],
    p_outputs   text[]
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_moved text[];
begin
    if not kl_internal.others_wrote_since(p_base, p_state.current_version_no, p_run_id) then
        return;
    end if;

    v_moved := kl_internal.moved_since(p_base, p_run_id, p_upload_id, p_paths, p_set_ids)
        || p_outputs;
    if v_moved <> '{}' then
        perform kl_internal.raise_conflict(p_base, p_state, v_moved);
    end if;
end;
$$;

comment on function kl_internal.require_unmoved(
    kl_internal.state_versions, kl_internal.states, uuid, uuid, text[], bigint[], text[]
) is
'Check that nothing written since its base stands against a delta. The state row is locked.

p_set_ids: of its lists of dependencies, where they are not in the stage. p_outputs: those that do
stand against it, as found before. Raises: KL302.';
