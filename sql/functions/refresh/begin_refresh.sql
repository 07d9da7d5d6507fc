create or replace function kl.begin_refresh(p_state text)
returns table (
    refresh_run_id  uuid,
    state_id        uuid,
    version_id      uuid,
    version_no      bigint,
    serial          numeric
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_state   kl_internal.states%rowtype;
    v_version kl_internal.state_versions%rowtype;
    v_run_id  uuid;
begin
    v_state := kl_internal.require_state(p_state, 'state:write');
    v_version := kl_internal.resolve_version(v_state, 'current');

    if v_version.opaque then
        raise exception using
            errcode = 'KL002',
            message = 'the client encrypts this state: there is nothing here to refresh',
            detail = jsonb_build_object('state', p_state)::text;
    end if;

    perform kl_internal.drop_lost_refreshes(interval '1 hour');

    insert into kl_internal.refresh_runs (
        state_id, from_version_id, started_at, actor, principal
    )
    values (
        v_state.id, v_version.id, kl_internal.clock(), kl_internal.current_actor(),
        kl_internal.current_principal()
    )
    returning id into v_run_id;

    return query
    select v_run_id, v_state.id, v_version.id, v_version.version_no, v_version.serial;
end;
$$;

comment on function kl.begin_refresh(text) is
'Open the audit row of a refresh of the current version, which it then reads and compares with.

Only the principal that began a run can go on with it. What killed clients left is ended first.
Locks: none. Raises: KL001, KL002 (encrypted by the client), KL101, KL102, KL201. Callers: CLI.';
