create or replace function kl.commit_refresh(p_refresh_run_id uuid)
returns table (
    version_id            uuid,
    version_no            bigint,
    serial                numeric,
    resources_checked     bigint,
    resources_changed     bigint,
    resources_superseded  bigint,
    changed_addresses     text[]
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_run     kl_internal.refresh_runs%rowtype;
    v_state   kl_internal.states%rowtype;
    v_draft   kl_internal.state_versions%rowtype;
    v_counts  record;
    v_closed  record;
    v_opened  record;
begin
    v_run := kl_internal.require_refresh_run(p_refresh_run_id);

    select s.*
    into v_state
    from kl_internal.states as s
    where s.id = v_run.state_id
        and s.deleted_at is null
    for update;

    if v_state.id is null then
        raise exception using
            errcode = 'KL201',
            message = format('there is no state with id %s any more', v_run.state_id),
            detail = jsonb_build_object('state_id', v_run.state_id)::text;
    end if;

    -- Once more, now that nobody else can end it: the same run may have been sent twice.
    perform 1
    from kl_internal.refresh_runs as r
    where r.id = p_refresh_run_id
    for update;
    v_run := kl_internal.require_refresh_run(p_refresh_run_id);

    perform kl_internal.require_write_lock(v_state, null);
    -- It was not when the run began; by now the client may have encrypted the state.
    perform kl_internal.refuse_opaque(kl_internal.resolve_version(v_state, 'current'));
    v_counts := kl_internal.count_reads(p_refresh_run_id);

    if v_counts.failed > 0 or v_counts.missing > 0 then
        raise exception using
            errcode = 'KL001',
            message = format(
                '%s objects failed and %s were not read: a refresh commits all or nothing',
                v_counts.failed, v_counts.missing
            ),
            detail = jsonb_build_object(
                'failed', v_counts.failed, 'missing', v_counts.missing
            )::text;
    end if;

    v_draft := kl_internal.successor_version(v_state, 'refresh', v_run.actor);
    v_draft.run_id := p_refresh_run_id;
    select c.* into v_closed
    from kl_internal.close_refreshed(p_refresh_run_id, v_draft.version_no) as c;

    if v_closed.closed_count > 0 then
        select o.* into v_opened
        from kl_internal.open_refreshed(p_refresh_run_id, v_draft.version_no) as o;
        v_draft.object_count :=
            v_draft.object_count - v_closed.closed_count + v_opened.opened_count;
        v_draft.content_digest := v_draft.content_digest
            # v_closed.closed_digest # v_opened.opened_digest;
    end if;

    perform kl_internal.record_version(v_draft);

    update kl_internal.refresh_runs as r
    set status = 'succeeded',
        finished_at = kl_internal.clock(),
        to_version_id = v_draft.id,
        resources_checked = v_counts.checked,
        resources_changed = cardinality(v_counts.changed_addresses),
        resources_failed = 0,
        resources_superseded = v_counts.superseded
    where r.id = p_refresh_run_id;
    delete from kl_internal.staged_reads as s
    where s.refresh_run_id = p_refresh_run_id;

    return query
    select
        v_draft.id, v_draft.version_no, v_draft.serial, v_counts.checked::bigint,
        cardinality(v_counts.changed_addresses)::bigint, v_counts.superseded::bigint,
        v_counts.changed_addresses;
end;
$$;

comment on function kl.commit_refresh(uuid) is
'Make what a refresh read the next version, all or nothing: also without any change.

A row changes only where the provider''s values differ from the stored ones; what somebody else
wrote since the run began is left and counted as superseded.
Locks: state row. Raises: KL001 (an object failed or was not read), KL002 (encrypted by the client
meanwhile), KL003, KL101, KL102, KL201, KL204, KL303, KL306. Callers: CLI.';
