create or replace function kl.create_environment(p_workspace text, p_name text)
returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_workspace kl_internal.workspaces%rowtype;
    v_public_id text;
begin
    perform kl.require_admin();

    select w.*
    into v_workspace
    from kl_internal.workspaces as w
    where p_workspace in (w.public_id, w.name);

    if v_workspace.id is null then
        raise exception using
            errcode = 'KL201',
            message = format('there is no workspace %s', to_json(p_workspace)),
            detail = jsonb_build_object('workspace', p_workspace)::text;
    end if;

    insert into kl_internal.environments (workspace_id, public_id, name)
    values (
        v_workspace.id,
        'env_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 12),
        p_name
    )
    on conflict (workspace_id, name) do nothing
    returning public_id into v_public_id;

    if v_public_id is null then
        raise exception using
            errcode = 'KL001',
            message = format('the workspace has an environment %s already', to_json(p_name)),
            detail = jsonb_build_object('environment', p_name)::text;
    end if;

    return v_workspace.public_id || '/' || v_public_id;
end;
$$;

comment on function kl.create_environment(text, text) is
'Make an environment in a workspace (its ws_… or name); returns ws_…/env_…, its states'' prefix.

Locks: none. Raises: KL001, KL101, KL102, KL201. Callers: server, CLI.';
