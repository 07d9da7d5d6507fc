create or replace function kl.state_status(p_name text)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state kl_internal.states%rowtype;
    v_held  kl_internal.state_locks%rowtype;
begin
    perform kl_internal.authorize('state:read');
    v_state := kl_internal.find_state(p_name);

    if v_state.current_version_no = 0 then
        v_held := kl_internal.terraform_lock(v_state.id);
        raise exception using
            errcode = 'KL201',
            message = format(
                'state %s was never written, only locked: by %s (lock %s); free it with '
                    || '"kl unlock"',
                to_json(p_name),
                coalesce(v_held.who, 'somebody'),
                v_held.lock_id
            ),
            detail = jsonb_build_object('state', p_name, 'lock_id', v_held.lock_id)::text;
    end if;

    v_state := kl_internal.require_state(p_name, 'state:read');
    return jsonb_build_object(
        'name', kl_internal.qualified_name(v_state.environment_id, v_state.name),
        'state_id', v_state.id,
        'created_at', kl_internal.wire_time(v_state.created_at),
        'versions', v_state.current_version_no,
        'current_version',
            kl_internal.status_version(v_state.id, v_state.current_version_no),
        'locks', kl_internal.status_locks(v_state.id),
        'apply_runs', kl_internal.status_apply_runs(v_state.id),
        'refresh_runs', kl_internal.status_refresh_runs(v_state.id),
        'last_refresh', kl_internal.status_last_refresh(v_state.id),
        'reservations', kl_internal.status_reservations(v_state.id)
    );
end;
$$;

comment on function kl.state_status(text) is
'How a state stands: its current version, locks, running runs, last refresh and reservations.

locks, apply_runs, refresh_runs, reservations: what is held or running now, ages in seconds.
last_refresh: null when there was none.
Locks: none. Raises: KL001, KL102, KL201. Callers: server, CLI.';
