create or replace function kl.create_workspace(p_name text)
returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_public_id text;
begin
    perform kl.require_admin();

    insert into kl_internal.workspaces (public_id, name)
    values ('ws_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 12), p_name)
    on conflict (name) do nothing
    returning public_id into v_public_id;

    if v_public_id is null then
        raise exception using
            errcode = 'KL001',
            message = format('there is a workspace %s already', to_json(p_name)),
            detail = jsonb_build_object('workspace', p_name)::text;
    end if;

    return v_public_id;
end;
$$;

comment on function kl.create_workspace(text) is
'Make a workspace; returns its public id ws_….

Locks: none. Raises: KL001, KL101, KL102. Callers: server, CLI.';
