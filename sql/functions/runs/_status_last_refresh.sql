create or replace function kl_internal.status_last_refresh(p_state_id uuid)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    -- A refreshed document that was imported has no run: it went from the version before it.
    return (
        select jsonb_build_object(
            'from_version_no', coalesce(f.version_no, v.version_no - 1),
            'to_version_no', v.version_no,
            'refresh_run_id', r.id,
            'resources_checked', r.resources_checked,
            'resources_changed', r.resources_changed,
            'actor', v.actor,
            'finished_at', kl_internal.wire_time(coalesce(r.finished_at, v.created_at))
        )
        from kl_internal.state_versions as v
        left join kl_internal.refresh_runs as r
            on r.state_id = v.state_id
            and r.to_version_id = v.id
        left join kl_internal.state_versions as f on f.id = r.from_version_id
        where v.state_id = p_state_id
            and v.source = 'refresh'
            and v.version_no > 1
        order by v.version_no desc
        limit 1
    );
end;
$$;

comment on function kl_internal.status_last_refresh(uuid) is
'The latest version a refresh made and the one it started from, as kl.state_status shows them.';
