create or replace function kl.apply_run_status(p_apply_id uuid)
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
begin
    perform kl_internal.find_apply_run(p_apply_id, 'state:read');

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

comment on function kl.apply_run_status(uuid) is
'How a native apply stands: running, committed, failed, aborted or expired.

expired: its last lease ended, and another client found that out.
Locks: none. Raises: KL101, KL102, KL201, KL204. Callers: server, CLI.';
