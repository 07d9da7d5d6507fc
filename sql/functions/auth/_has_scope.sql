-- requires: auth/_caller_grant
create or replace function kl_internal.has_scope(p_scope text)
returns boolean
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    select g.scopes && array[p_scope, 'admin']
    from kl_internal.caller_grant() as g;
$$;

comment on function kl_internal.has_scope(text) is
'Whether the caller has a scope, or admin.

Raises: KL101.';
