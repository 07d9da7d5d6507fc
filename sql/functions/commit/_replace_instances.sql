create or replace function kl_internal.replace_instances(
    p_draft           kl_internal.state_versions,
    p_upload_id       uuid,
    p_paths           text[]
)
returns kl_internal.state_versions
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_draft  kl_internal.state_versions%rowtype := p_draft;
    v_kept   text[] := array[]::text[];
    v_look   record;
    v_closed record;
    v_opened record;
begin
    v_look := kl_internal.compare_delta(p_draft.state_id, p_upload_id);
    if v_look.has_new_lists then
        perform kl_internal.keep_dependency_sets(p_draft.state_id, p_upload_id);
    end if;

    if v_look.may_be_same then
        perform kl_internal.mark_unchanged(p_draft.state_id, p_upload_id);
        v_kept := array(
            select u.path
            from kl_internal.upload_objects as u
            where u.upload_id = p_upload_id
                and u.unchanged
        );
    end if;

    v_closed := kl_internal.close_instances(
        p_draft.state_id, p_draft.version_no, p_paths, v_kept
    );
    v_opened := kl_internal.open_resources(p_draft.state_id, p_upload_id, p_draft.version_no);
    if v_look.may_part then
        perform kl_internal.require_sibling_providers(
            p_draft.state_id, p_draft.version_no, p_paths
        );
    end if;

    v_draft.object_count := v_draft.object_count - v_closed.closed_count + v_opened.opened_count;
    v_draft.content_digest := v_draft.content_digest
        # v_closed.closed_digest # v_opened.opened_digest;
    if v_draft.object_count > 0 and (v_draft.omitted <> '{}' or v_draft.extra is not null) then
        v_draft := kl_internal.with_member(v_draft, 'resources');
    end if;

    return v_draft;
end;
$$;

comment on function kl_internal.replace_instances(
    kl_internal.state_versions, uuid, text[]
) is
'Bring the instances at some paths to what an upload says of them; what it does not say is closed.

The version in the making comes back with its new counts and digest. Raises: KL001.';
