-- requires: auth/_caller_grant
create or replace function kl_internal.resolve_name(
    p_name              text,
    p_grant             kl_internal.caller_grant default kl_internal.caller_grant(),
    out environment_id  uuid,
    out state_name      text
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_parts text[];
begin
    if p_name is null or p_name = '' or char_length(p_name) > 512
        or p_name ~ '[\x01-\x1f\x7f-\x9f]|(^|/)\.{0,2}(/|$)' then
        raise exception using
            errcode = 'KL001',
            message = format(
                'state name %s cannot be used: 1 to 512 characters, no control characters, no '
                    || 'empty segment, no "." or ".." segment',
                coalesce(to_json(left(p_name, 80))::text, 'null')
            ),
            detail = jsonb_build_object('state', left(p_name, 600))::text;
    end if;

    if starts_with(p_name, 'ws_') then
        v_parts := regexp_match(p_name, '^(ws_[0-9a-z]+)/(env_[0-9a-z]+)/(.+)$');
    end if;
    state_name := coalesce(v_parts[3], p_name);

    if v_parts is null then
        select e.id
        into environment_id
        from kl_internal.workspaces as w
        inner join kl_internal.environments as e on e.workspace_id = w.id
        where w.name = 'default'
            and e.name = 'default';
    else
        select e.id
        into environment_id
        from kl_internal.workspaces as w
        inner join kl_internal.environments as e on e.workspace_id = w.id
        where w.public_id = v_parts[1]
            and e.public_id = v_parts[2];
    end if;

    if environment_id is null then
        perform kl_internal.authorize_place(null, state_name, p_grant);
        raise exception using
            errcode = 'KL201',
            message = format('there is no environment %s/%s', v_parts[1], v_parts[2]),
            detail = jsonb_build_object('state', p_name)::text;
    end if;

    perform kl_internal.authorize_place(environment_id, state_name, p_grant);
end;
$$;

comment on function kl_internal.resolve_name(text, kl_internal.caller_grant) is
'The environment and the bare name that a state name means.

ws_…/env_…/NAME names all three; any other name lives in the default environment.
Every name passes here, so this is where a grant''s environment and prefix are checked.
Raises: KL001, KL101, KL102, KL201.';
