-- Which refreshes run is asked at the beginning of each.
create index refresh_runs_running_idx
    on kl_internal.refresh_runs (started_at)
    where status = 'running';
