create or replace function kl.list_tokens()
returns table (
    token_id      uuid,
    name          text,
    hint          text,
    environment   text,
    scopes        text[],
    state_prefix  text,
    created_at    timestamptz,
    created_by    text,
    expires_at    timestamptz,
    last_used_at  timestamptz,
    revoked_at    timestamptz
)
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
        t.id,
        t.name,
        t.hint,
        w.public_id || '/' || e.public_id,
        t.scopes,
        t.state_prefix,
        t.created_at,
        t.created_by,
        t.expires_at,
        t.last_used_at,
        t.revoked_at
    from kl_internal.api_tokens as t
    left join kl_internal.environments as e on e.id = t.environment_id
    left join kl_internal.workspaces as w on w.id = e.workspace_id
    order by t.created_at;
end;
$$;

comment on function kl.list_tokens() is
'Every token there is or was, without the token: hint is how it begins.

Locks: none. Raises: KL101, KL102. Callers: server, CLI.';
