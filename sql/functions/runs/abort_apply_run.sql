create or replace function kl.abort_apply_run(p_apply_id uuid, p_reason text)
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
    v_run := case
        when kl_internal.has_scope('admin')
            then kl_internal.find_apply_run(p_apply_id, 'admin')
        else kl_internal.own_apply_run(p_apply_id, 'state:write')
    end;

    if v_run.status <> 'aborted' then
        perform kl_internal.require_running(v_run);

        update kl_internal.apply_runs as a
        set status = 'aborted',
            error_summary = p_reason,
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

comment on function kl.abort_apply_run(uuid, text) is
'End a native apply that will not commit any more, and free all that it holds.

Whoever began it may, and an admin of the state.
Locks: state row. Raises: KL101, KL102, KL201, KL204, KL306. Callers: server, CLI.';
