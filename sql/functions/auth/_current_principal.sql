create or replace function kl_internal.current_principal()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (kl_internal.caller_grant()).principal;
end;
$$;

comment on function kl_internal.current_principal() is
'Who is calling, as rights go: token:ID, or the login of the session.

Raises: KL101.';
