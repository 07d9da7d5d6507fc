create or replace function kl.create_token(
    p_name         text,
    p_scopes       text[],
    p_environment  text,
    p_state_prefix text,
    p_lifetime     interval
)
returns table (token_id uuid, token text, expires_at timestamptz)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_token text := 'kl_' || replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
begin
    perform kl.require_admin();

    if coalesce(p_name, '') = '' or coalesce(p_scopes, '{}') = '{}'
        or not p_scopes <@ array['state:read', 'state:write', 'outputs:read', 'admin'] then
        raise exception using
            errcode = 'KL001',
            message = 'a token needs a name and scopes out of state:read, state:write, '
                || 'outputs:read, admin',
            detail = jsonb_build_object('scopes', p_scopes)::text;
    end if;

    return query
    insert into kl_internal.api_tokens (
        name, token_hash, hint, environment_id, scopes, state_prefix, created_at, created_by,
        expires_at
    )
    values (
        p_name,
        sha256(convert_to(v_token, 'UTF8')),
        left(v_token, 9),
        kl_internal.environment_id(p_environment),
        p_scopes,
        nullif(p_state_prefix, ''),
        kl_internal.clock(),
        kl_internal.current_actor(),
        kl_internal.clock() + p_lifetime
    )
    returning id, v_token, expires_at;

    perform kl_internal.record_event(null, null, 'create_token', jsonb_build_object(
        'name', p_name,
        'hint', left(v_token, 9),
        'scopes', p_scopes,
        'environment', p_environment,
        'state_prefix', p_state_prefix
    ));
end;
$$;

comment on function kl.create_token(text, text[], text, text, interval) is
'Make a token for the server; the text is shown this once, only its SHA-256 is kept.

p_scopes: state:read, state:write, outputs:read, admin. p_environment: ws_…/env_…, null for
the whole installation. p_state_prefix: only states whose bare name starts so; null for all.
p_lifetime: null for a token that does not expire.
Locks: none. Raises: KL001, KL101, KL102, KL201. Callers: server, CLI.';
