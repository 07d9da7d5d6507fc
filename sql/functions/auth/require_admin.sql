create or replace function kl.require_admin()
returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform kl_internal.authorize_everywhere('admin');
end;
$$;

comment on function kl.require_admin() is
'Check that the caller is an admin of the whole installation, not of one environment or prefix.

Locks: none. Raises: KL101, KL102. Callers: server, CLI.';
