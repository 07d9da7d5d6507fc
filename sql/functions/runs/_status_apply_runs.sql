create or replace function kl_internal.status_apply_runs(p_state_id uuid)
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
                    'apply_id', r.id,
                    'actor', r.actor,
                    'source_serial', r.source_serial,
                    'resources_planned', r.resources_planned,
                    'resources_applied', r.resources_applied,
                    'started_at', kl_internal.wire_time(r.started_at),
                    'age_seconds',
                        extract(epoch from kl_internal.clock() - r.started_at)::bigint
                )
                order by r.started_at, r.id
            ),
            '[]'
        )
        from kl_internal.apply_runs as r
        where r.state_id = p_state_id
            and r.status = 'running'
    );
end;
$$;

comment on function kl_internal.status_apply_runs(uuid) is
'The apply runs of a state that are running, as kl.state_status shows them.';
