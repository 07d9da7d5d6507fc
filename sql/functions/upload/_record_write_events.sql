create or replace function kl_internal.record_write_events(
    p_state   kl_internal.states,
    p_current kl_internal.state_versions,
    p_draft   kl_internal.state_versions,
    p_forced  boolean
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_forced and (
        p_draft.serial <= p_current.serial or p_draft.lineage <> p_current.lineage
    ) then
        perform kl_internal.record_event(
            p_state.id,
            p_state.name,
            'forced_write',
            jsonb_build_object(
                'operation', p_draft.operation,
                'version_no', p_draft.version_no,
                'serial', p_draft.serial,
                'lineage', p_draft.lineage,
                'previous_serial', p_current.serial,
                'previous_lineage', p_current.lineage
            )
        );
    end if;

    if p_draft.opaque and p_current.opaque is not true then
        perform kl_internal.record_event(
            p_state.id,
            p_state.name,
            'became_opaque',
            jsonb_build_object('version_no', p_draft.version_no, 'serial', p_draft.serial)
        );
    end if;

    if p_draft.source = 'import' then
        perform kl_internal.record_event(
            p_state.id,
            p_state.name,
            'import',
            jsonb_build_object('version_no', p_draft.version_no, 'serial', p_draft.serial)
        );
    end if;
end;
$$;

comment on function kl_internal.record_write_events(
    kl_internal.states,
    kl_internal.state_versions,
    kl_internal.state_versions,
    boolean
) is
'The audit lines that a write of a whole document leaves, besides its version.';
