-- requires: address/_parse_address
create or replace function kl.address_path(p_address text)
returns text
language sql
immutable
security definer
set search_path = pg_catalog, pg_temp
as $$
    select a.path
    from kl_internal.parse_address(p_address) as a;
$$;

comment on function kl.address_path(text) is
'The path of an address, as the column path of kl.resources and kl.resource_history has it.

An address without key has a path that is a prefix of the paths of all its instances.
Raises: KL001. Callers: analysts, server, CLI.';
