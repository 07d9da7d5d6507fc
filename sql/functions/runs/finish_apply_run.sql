create or replace function kl.finish_apply_run(
    p_apply_id          uuid,
    p_status            text,
    p_committed_serial  numeric,
    p_resources_planned integer,
    p_resources_applied integer,
    p_error             text
)
returns table (
    id                 uuid,
    state_id           uuid,
    from_version_id    uuid,
    actor              text,
    status             text,
    source_serial      numeric,
    started_at         timestamptz,
    to_version_id      uuid,
    committed_serial   numeric,
    resources_planned  integer,
    resources_applied  integer,
    error_summary      text,
    finished_at        timestamptz
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_run kl_internal.apply_runs%rowtype;
begin
    v_run := kl_internal.find_apply_run(p_apply_id, 'state:write');
    perform kl_internal.lock_state_row(v_run.state_id);
    v_run := kl_internal.own_apply_run(p_apply_id, 'state:write');

    if p_status is null or p_status not in ('committed', 'failed') then
        raise exception using
            errcode = 'KL001',
            message = 'an apply run finishes as committed or failed',
            detail = jsonb_build_object('pointer', '/status')::text;
    end if;

    perform kl_internal.require_serial(p_committed_serial, '/committed_serial');

    -- A request whose answer was lost is answered again.
    if v_run.status <> p_status then
        v_run := kl_internal.require_apply_run(p_apply_id, 'state:write');

        update kl_internal.apply_runs as a
        set status = p_status,
            committed_serial = coalesce(a.committed_serial, p_committed_serial),
            resources_planned = coalesce(p_resources_planned, a.resources_planned),
            resources_applied = coalesce(p_resources_applied, a.resources_applied),
            error_summary = p_error,
            finished_at = kl_internal.clock()
        where a.id = p_apply_id;

        perform kl_internal.free_apply_run(v_run);
    end if;

    return query
    select
        a.id,
        a.state_id,
        a.from_version_id,
        a.actor,
        a.status,
        a.source_serial,
        a.started_at,
        a.to_version_id,
        a.committed_serial,
        a.resources_planned,
        a.resources_applied,
        a.error_summary,
        a.finished_at
    from kl_internal.apply_runs as a
    where a.id = p_apply_id;
end;
$$;

comment on function kl.finish_apply_run(uuid, text, numeric, integer, integer, text) is
'End a native apply as committed or failed, and free all that it holds.

The serial that the run itself committed stands, whatever p_committed_serial says.
Locks: state row. Raises: KL001, KL101, KL102, KL201, KL204, KL306. Callers: server, CLI.';
