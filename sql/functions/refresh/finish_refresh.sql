create or replace function kl.finish_refresh(
    p_refresh_run_id uuid,
    p_status         text,
    p_checked        integer,
    p_failed         integer,
    p_error_summary  text
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform kl_internal.require_refresh_run(p_refresh_run_id);

    if p_status is null or p_status not in ('succeeded', 'failed', 'cancelled') then
        raise exception using
            errcode = 'KL001',
            message = 'a refresh ends as succeeded, failed or cancelled',
            detail = jsonb_build_object('status', p_status)::text;
    end if;

    update kl_internal.refresh_runs as r
    set status = p_status,
        finished_at = kl_internal.clock(),
        resources_checked = p_checked,
        resources_changed = coalesce(r.resources_changed, 0),
        resources_failed = p_failed,
        error_summary = p_error_summary
    where r.id = p_refresh_run_id;

    delete from kl_internal.staged_reads as s
    where s.refresh_run_id = p_refresh_run_id;
end;
$$;

comment on function kl.finish_refresh(uuid, text, integer, integer, text) is
'End a refresh that did not commit: failed, cancelled, or succeeded without a write (a dry run).

Locks: none. Raises: KL001, KL101, KL102, KL201, KL204, KL306. Callers: CLI.';
