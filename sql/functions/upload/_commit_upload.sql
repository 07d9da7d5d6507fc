create or replace function kl_internal.commit_upload(
    p_state      kl_internal.states,
    p_upload_id  uuid,
    p_objects    bigint,
    p_digest     bytea,
    p_origin     kl_internal.write_origin
)
returns table (
    outcome     text,
    version_id  uuid,
    version_no  bigint,
    serial      numeric,
    missing     text
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan  -- an upload may bring one object or all
set enable_nestloop = on
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    v_current    kl_internal.state_versions%rowtype;
    v_draft      kl_internal.state_versions%rowtype;
    v_comparison kl_internal.upload_comparisons%rowtype;
    v_missing    text;
    v_resources  record;
    v_outputs    record;
    v_is_retry   boolean;
begin
    if not kl_internal.stage_is_whole(p_upload_id, p_objects, p_digest) then
        return query select 'lost', null::uuid, null::bigint, null::numeric, '{}';
        return;
    end if;

    perform kl_internal.settle_claims(p_state, p_upload_id);

    select v.*
    into v_current
    from kl_internal.state_versions as v
    where v.state_id = p_state.id
        and v.version_no = p_state.current_version_no;

    v_draft := kl_internal.draft_version(v_current, p_state.id, p_upload_id);
    v_is_retry := v_draft.serial = v_current.serial and v_draft.lineage = v_current.lineage;
    if not (v_is_retry or p_origin.forced) then
        perform kl_internal.require_next_serial(v_current, v_draft);
    end if;

    -- Compared again under the row lock: what became stale since stage_missing is asked for.
    v_comparison := kl_internal.current_comparison(p_state, p_upload_id);
    v_missing := kl_internal.missing_slices(p_upload_id, v_comparison.unmatched);
    if v_missing <> '{}' then
        return query select 'incomplete', null::uuid, null::bigint, null::numeric, v_missing;
        return;
    end if;

    if cardinality(v_comparison.unmatched) > 100 then
        -- The stage has no statistics: it is as large as the state.
        perform set_config('enable_nestloop', 'off', true);
    end if;

    select r.*
    into v_resources
    from kl_internal.replace_resources(v_current, v_draft, v_comparison, p_objects) as r;
    select o.*
    into v_outputs
    from kl_internal.replace_outputs(p_state.id, p_upload_id, v_draft.version_no, null) as o;

    if v_is_retry
        and v_resources.closed_count + v_resources.opened_count = 0
        and v_outputs.closed_count + v_outputs.opened_count = 0
        and kl_internal.same_members(v_current, v_draft, p_digest) then
        perform kl_internal.sweep_upload(p_upload_id);
        return query
        select 'unchanged', v_current.id, v_current.version_no, v_current.serial, '{}';
        return;
    end if;

    if not p_origin.forced then
        perform kl_internal.require_next_serial(v_current, v_draft);
    end if;

    v_draft.source := p_origin.source;
    v_draft.operation := p_origin.operation;
    v_draft.actor := p_origin.actor;
    v_draft.request_digest := coalesce(p_origin.request_digest, p_digest);
    v_draft.run_id := p_origin.run_id;
    v_draft.object_count := v_draft.object_count
        - v_resources.closed_count + v_resources.opened_count;
    v_draft.output_count := v_draft.output_count
        - v_outputs.closed_count + v_outputs.opened_count;
    v_draft.content_digest := v_draft.content_digest
        # v_resources.changed_digest # v_outputs.changed_digest;

    perform kl_internal.record_version(v_draft);
    perform kl_internal.keep_opaque_chunks(v_draft, p_upload_id);
    perform kl_internal.record_write_events(p_state, v_current, v_draft, p_origin.forced);
    -- What it claimed are the rows of the version now.
    delete from kl_internal.upload_claims as c where c.upload_id = p_upload_id;
    perform kl_internal.sweep_upload(p_upload_id);
    perform kl_internal.note_growth(v_resources.opened_count);
    return query select 'written', v_draft.id, v_draft.version_no, v_draft.serial, '{}';
end;
$$;

comment on function kl_internal.commit_upload(
    kl_internal.states,
    uuid,
    bigint,
    bytea,
    kl_internal.write_origin
) is
'The one way a whole document becomes a version. The caller holds the state row lock.

outcome: written; unchanged (a retry of the current version); incomplete (send the slices in
missing, then call again); lost (the stage is not what was counted: stage again).
Raises: KL001, KL302.';
