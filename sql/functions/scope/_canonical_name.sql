create or replace function kl_internal.canonical_name(p_state kl_internal.states)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        select w.public_id || '/' || e.public_id || '/' || p_state.name
        from kl_internal.environments as e
        inner join kl_internal.workspaces as w on w.id = e.workspace_id
        where e.id = p_state.environment_id
    );
end;
$$;

comment on function kl_internal.canonical_name(kl_internal.states) is
'The combined name of a state, ws_…/env_…/NAME, which any environment has.';
