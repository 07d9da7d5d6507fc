create or replace function kl_internal.current_principal()
returns text
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    select session_user::text;
$$;

comment on function kl_internal.current_principal() is
'Who is calling, as rights go: the login of the session.';
