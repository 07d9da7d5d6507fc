create or replace function kl_internal.caller_grant()
returns kl_internal.caller_grant
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_token text := nullif(current_setting('kl.token', true), '');
    v_mode  text := coalesce(current_setting('kl.auth', true), '');
    v_grant kl_internal.caller_grant;
begin
    if v_token is not null then
        return kl_internal.token_grant(v_token);
    end if;

    v_grant.principal := session_user;
    if pg_has_role(session_user, 'kl_owner', 'member') then
        v_grant.scopes := array['admin'];
    elsif pg_has_role(session_user, 'kl_server', 'member') then
        -- A server that asks for tokens has none here: nobody called.
        v_grant.scopes := case v_mode
            when 'database' then '{}'
            when 'open' then array['admin']
            when 'static' then array['admin']
            else array['state:read', 'state:write']
        end;
    else
        v_grant.scopes := case
            when pg_has_role(session_user, 'kl_analyst', 'member') then array['analyst']
            else '{}'
        end;
        select array_agg(a.environment_id)
        into v_grant.environment_ids
        from kl_internal.analyst_environments as a
        where a.login = session_user;
    end if;

    return v_grant;
end;
$$;

comment on function kl_internal.caller_grant() is
'The one resolver: who calls, and what that principal may do where.

The setting kl.token of the transaction decides when it is set; otherwise the login does. kl.auth is
how the server that opened the session authenticates: open and static let every caller do
everything, database nobody without a token. Raises: KL101.
Definer: a view calls it as its reader.';
