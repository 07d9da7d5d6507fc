create or replace function kl_internal.current_actor()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return coalesce(
        nullif(current_setting('kl.actor', true), ''),
        kl_internal.current_principal()
    );
end;
$$;

comment on function kl_internal.current_actor() is
'Who is acting, as the audit trail shows it: the transaction''s setting kl.actor, or the principal.

Raises: KL101.';
