create or replace function kl_internal.environment_id(p_environment text)
returns uuid
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_id uuid;
begin
    if p_environment is null then
        return null;
    end if;

    select e.id
    into v_id
    from kl_internal.environments as e
    inner join kl_internal.workspaces as w on w.id = e.workspace_id
    where p_environment in (
        w.public_id || '/' || e.public_id, e.public_id, w.name || '/' || e.name
    );

    if v_id is null then
        raise exception using
            errcode = 'KL201',
            message = format('there is no environment %s', to_json(p_environment)),
            detail = jsonb_build_object('environment', p_environment)::text;
    end if;

    return v_id;
end;
$$;

comment on function kl_internal.environment_id(text) is
'The environment that ws_…/env_…, env_… or WORKSPACE/ENVIRONMENT names; null for null.

Raises: KL201.';
