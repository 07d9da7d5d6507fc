-- requires: auth/_caller_grant
create or replace function kl_internal.caller_reach()
returns table (environment_ids uuid[], state_prefix text)
language sql
stable
rows 1
security definer
set search_path = pg_catalog, pg_temp
as $$
    select g.environment_ids, g.state_prefix
    from kl_internal.caller_grant() as g
    where g.scopes && array['state:read', 'analyst', 'admin'];
$$;

comment on function kl_internal.caller_reach() is
'Where the caller may read: no row when nowhere; null environments and prefix for everywhere.

Raises: KL101.
Definer: a view calls it as its reader.';
