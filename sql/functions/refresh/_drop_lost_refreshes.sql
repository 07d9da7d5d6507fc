-- requires: core/_clock
create or replace function kl_internal.drop_lost_refreshes(p_older_than interval)
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    update kl_internal.refresh_runs as r
    set status = 'failed',
        finished_at = kl_internal.clock(),
        error_summary = 'lost: its client has not been heard of for a day'
    where r.status = 'running'
        and r.started_at < kl_internal.clock() - interval '1 day'
        and not exists (
            select
            from kl_internal.staged_reads as s
            where s.refresh_run_id = r.id
                and s.staged_at >= kl_internal.clock() - interval '1 day'
        );

    delete from kl_internal.staged_reads as s
    where s.staged_at < kl_internal.clock() - p_older_than
        and not exists (
            select
            from kl_internal.refresh_runs as r
            where r.id = s.refresh_run_id
                and r.status = 'running'
        );

    delete from kl_internal.staged_schemas as s
    where s.staged_at < kl_internal.clock() - p_older_than;
$$;

comment on function kl_internal.drop_lost_refreshes(interval) is
'End the refreshes whose client was killed, and drop what they and others left staged.

A run is lost when it has staged nothing for a day: a slow provider is waited for longer than an
upload. What a run that goes on has staged stays, however old.';
