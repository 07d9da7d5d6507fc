create or replace function kl_internal.authorize(p_scope text)
returns kl_internal.caller_grant
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_grant kl_internal.caller_grant := kl_internal.caller_grant();
begin
    if p_scope = any (v_grant.scopes)
        or 'admin' = any (v_grant.scopes)
        or (p_scope = 'outputs:read' and 'state:read' = any (v_grant.scopes)) then
        return v_grant;
    end if;

    if coalesce(current_setting('kl.auth', true), '') = 'database'
        and coalesce(current_setting('kl.token', true), '') = '' then
        raise exception using
            errcode = 'KL101',
            message = 'a token is needed: as a bearer token, or as the password of HTTP Basic',
            detail = '{}';
    end if;

    raise exception using
        errcode = 'KL102',
        message = format('%s lacks the scope %s', v_grant.principal, p_scope),
        detail = jsonb_build_object('scope', p_scope, 'principal', v_grant.principal)::text;
end;
$$;

comment on function kl_internal.authorize(text) is
'Check that the caller has a scope somewhere: state:read, state:write, outputs:read or admin.

What the caller may do comes back, for who checks more of it. Which states it has the scope for is
checked where a name or an id becomes a state (kl_internal.authorize_place). Raises: KL101, KL102.';
