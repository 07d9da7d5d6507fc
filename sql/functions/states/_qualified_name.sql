create or replace function kl_internal.qualified_name(p_environment_id uuid, p_name text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        select case
            when w.name = 'default' and e.name = 'default' then p_name
            else w.public_id || '/' || e.public_id || '/' || p_name
        end
        from kl_internal.environments as e
        inner join kl_internal.workspaces as w on w.id = e.workspace_id
        where e.id = p_environment_id
    );
end;
$$;

comment on function kl_internal.qualified_name(uuid, text) is
'The name callers use for a state: bare in the default environment, ws_…/env_…/NAME elsewhere.';
