create or replace function kl.resolve_state(p_name text)
returns table (
    state          text,
    state_id       uuid,
    workspace_id   text,
    env_public_id  text,
    state_name     text,
    lineage        text,
    serial         numeric,
    version_id     uuid,
    creator        text
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_state   kl_internal.states%rowtype;
    v_version kl_internal.state_versions%rowtype;
begin
    v_state := kl_internal.require_state(p_name, 'state:read');
    v_version := kl_internal.resolve_version(v_state, 'current');

    return query
    select
        kl_internal.canonical_name(v_state),
        v_state.id,
        w.public_id,
        e.public_id,
        v_state.name,
        v_version.lineage,
        v_version.serial,
        v_version.id,
        f.source
    from kl_internal.environments as e
    inner join kl_internal.workspaces as w on w.id = e.workspace_id
    inner join kl_internal.state_versions as f
        on f.state_id = v_state.id
        and f.version_no = 1
    where e.id = v_state.environment_id;
end;
$$;

comment on function kl.resolve_state(text) is
'The identity of a state and how it stands; it never makes one.

state: the combined name, which every environment has. creator: the source of the first version.
Locks: none. Raises: KL001, KL101, KL102, KL201. Callers: server, CLI.';
