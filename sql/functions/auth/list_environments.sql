create or replace function kl.list_environments()
returns table (environment text, workspace_name text, environment_name text, state_count bigint)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform kl.require_admin();

    return query
    select
        w.public_id || coalesce('/' || e.public_id, ''),
        w.name,
        e.name,
        (
            select count(*)
            from kl_internal.states as s
            where s.environment_id = e.id
                and s.deleted_at is null
                and s.current_version_no > 0
        )
    from kl_internal.workspaces as w
    left join kl_internal.environments as e on e.workspace_id = w.id
    order by w.name, e.name;
end;
$$;

comment on function kl.list_environments() is
'Every workspace and environment; environment is ws_…/env_…, the prefix of its states'' names.

Locks: none. Raises: KL101, KL102. Callers: server, CLI.';
