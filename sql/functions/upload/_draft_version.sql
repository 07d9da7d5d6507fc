create or replace function kl_internal.draft_version(
    p_current   kl_internal.state_versions,
    p_state_id  uuid,
    p_upload_id uuid
)
returns kl_internal.state_versions
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_draft kl_internal.state_versions%rowtype;
begin
    select d.serial, d.lineage, d.terraform_version, d.check_results, d.extra, d.omitted,
        d.escaped, d.opaque
    into v_draft.serial, v_draft.lineage, v_draft.terraform_version, v_draft.check_results,
        v_draft.extra, v_draft.omitted, v_draft.escaped, v_draft.opaque
    from kl_internal.staged_document(p_upload_id) as d;

    v_draft.id := gen_random_uuid();
    v_draft.state_id := p_state_id;
    v_draft.version_no := coalesce(p_current.version_no, 0) + 1;
    v_draft.object_count := coalesce(p_current.object_count, 0);
    v_draft.output_count := coalesce(p_current.output_count, 0);
    v_draft.content_digest := coalesce(p_current.content_digest, 0);
    v_draft.principal := kl_internal.current_principal();
    v_draft.created_at := kl_internal.clock();
    return v_draft;
end;
$$;

comment on function kl_internal.draft_version(kl_internal.state_versions, uuid, uuid) is
'The version that an upload would become, counts and digest still those of its predecessor.

Raises: KL001.';
