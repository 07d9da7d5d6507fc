create or replace function kl_internal.change_outputs(
    p_draft     kl_internal.state_versions,
    p_upload_id uuid,
    p_keys      text[]
)
returns kl_internal.state_versions
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_draft   kl_internal.state_versions%rowtype := p_draft;
    v_outputs record;
begin
    if p_keys = '{}' then
        return v_draft;
    end if;

    select o.*
    into v_outputs
    from kl_internal.replace_outputs(
        p_draft.state_id, p_upload_id, p_draft.version_no, p_keys
    ) as o;
    v_draft.output_count := v_draft.output_count
        - v_outputs.closed_count + v_outputs.opened_count;
    v_draft.content_digest := v_draft.content_digest # v_outputs.changed_digest;
    if v_draft.output_count > 0 then
        v_draft := kl_internal.with_member(v_draft, 'outputs');
    end if;

    return v_draft;
end;
$$;

comment on function kl_internal.change_outputs(kl_internal.state_versions, uuid, text[]) is
'Bring the outputs of those name keys to what an upload says; those it does not have are closed.

The version in the making comes back with its new counts and digest. Raises: KL001.';
