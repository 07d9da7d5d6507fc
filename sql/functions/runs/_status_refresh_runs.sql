create or replace function kl_internal.status_refresh_runs(p_state_id uuid)
returns jsonb
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        select coalesce(
            jsonb_agg(
                jsonb_build_object(
                    'refresh_run_id', r.id,
                    'actor', r.actor,
                    'from_version_no', v.version_no,
                    'started_at', kl_internal.wire_time(r.started_at),
                    'age_seconds',
                        extract(epoch from kl_internal.clock() - r.started_at)::bigint
                )
                order by r.started_at, r.id
            ),
            '[]'
        )
        from kl_internal.refresh_runs as r
        inner join kl_internal.state_versions as v on v.id = r.from_version_id
        where r.state_id = p_state_id
            and r.status = 'running'
    );
end;
$$;

comment on function kl_internal.status_refresh_runs(uuid) is
'The refresh runs of a state that are running, as kl.state_status shows them.';
