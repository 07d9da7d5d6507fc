create or replace function kl_internal.current_actor()
returns text
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(nullif(current_setting('kl.actor', true), ''), session_user::text);
$$;

comment on function kl_internal.current_actor() is
'Who is acting, as the audit trail shows it: the transaction''s setting kl.actor, or the login.';
