create or replace function kl.begin_apply_run(
    p_name          text,
    p_actor         text,
    p_source_serial numeric,
    p_info          jsonb
)
returns table (
    id               uuid,
    state_id         uuid,
    from_version_id  uuid,
    actor            text,
    status           text,
    source_serial    numeric,
    started_at       timestamptz
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_state   kl_internal.states%rowtype := kl_internal.require_state(p_name, 'state:write');
    v_version kl_internal.state_versions%rowtype;
begin
    if p_info is not null and jsonb_typeof(p_info) <> 'object' then
        raise exception using
            errcode = 'KL001',
            message = 'what is told about a run is a JSON object',
            detail = jsonb_build_object('pointer', '/info')::text;
    end if;

    perform kl_internal.require_serial(p_source_serial, '/source_serial');
    v_version := kl_internal.resolve_version(v_state, 'current');

    return query
    insert into kl_internal.apply_runs as a (
        state_id, from_version_id, actor, principal, source_serial, info, started_at
    )
    values (
        v_state.id,
        v_version.id,
        coalesce(nullif(p_actor, ''), kl_internal.current_actor()),
        kl_internal.current_principal(),
        coalesce(p_source_serial, v_version.serial),
        coalesce(p_info, '{}'),
        kl_internal.clock()
    )
    returning
        a.id, a.state_id, a.from_version_id, a.actor, a.status, a.source_serial, a.started_at;
end;
$$;

comment on function kl.begin_apply_run(text, text, numeric, jsonb) is
'Begin a native apply: its id is the apply_id of what it reserves, locks and commits.

Never makes a state. p_source_serial: what the client planned from; the current serial unless given.
Locks: state row, shared with others that begin.
Raises: KL001, KL101, KL102, KL201. Callers: server, CLI.';
