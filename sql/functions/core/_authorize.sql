create or replace function kl_internal.authorize(p_scope text)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_scope = 'admin' and not pg_has_role(session_user, 'kl_owner', 'member') then
        raise exception using
            errcode = 'KL102',
            message = 'this needs the admin right: connect as a member of kl_owner',
            detail = jsonb_build_object('scope', p_scope, 'principal', session_user)::text;
    end if;

    if p_scope <> 'admin' and not pg_has_role(session_user, 'kl_server', 'member') then
        raise exception using
            errcode = 'KL102',
            message = format('login %s may not use states: grant it kl_server', session_user),
            detail = jsonb_build_object('scope', p_scope, 'principal', session_user)::text;
    end if;
end;
$$;

comment on function kl_internal.authorize(text) is
'Check that the caller has a scope: state:read, state:write or admin.

Raises: KL102.';
