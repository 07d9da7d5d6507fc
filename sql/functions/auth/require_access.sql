create or replace function kl.require_access(p_name text, p_scope text)
returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform kl_internal.resolve_name(p_name, kl_internal.authorize(p_scope));
end;
$$;

comment on function kl.require_access(text, text) is
'Check that the caller has a scope for states of that name, before any of its bytes are taken.

Locks: none. Raises: KL001, KL101, KL102, KL201 (no such environment). Callers: server.';
