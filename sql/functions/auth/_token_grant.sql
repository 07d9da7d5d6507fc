-- requires: auth/_caller_grant
create or replace function kl_internal.token_grant(p_token text)
returns kl_internal.caller_grant
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_token kl_internal.api_tokens%rowtype;
    v_grant kl_internal.caller_grant;
begin
    select t.*
    into v_token
    from kl_internal.api_tokens as t
    where t.token_hash = sha256(convert_to(p_token, 'UTF8'))
        and t.revoked_at is null
        and (t.expires_at is null or t.expires_at > kl_internal.clock());

    if v_token.id is null then
        raise exception using
            errcode = 'KL101',
            message = 'the token is not known, has expired or was revoked',
            detail = '{}';
    end if;

    v_grant.principal := 'token:' || v_token.id;
    v_grant.scopes := v_token.scopes;
    v_grant.environment_ids := case
        when v_token.environment_id is not null then array[v_token.environment_id]
    end;
    v_grant.state_prefix := v_token.state_prefix;
    return v_grant;
end;
$$;

comment on function kl_internal.token_grant(text) is
'What a token may do. The same answer for unknown, expired and revoked ones.

Raises: KL101.';
