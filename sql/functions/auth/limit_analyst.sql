create or replace function kl.limit_analyst(p_login text, p_environments text[])
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform kl.require_admin();

    delete from kl_internal.analyst_environments as a
    where a.login = p_login;

    insert into kl_internal.analyst_environments (login, environment_id)
    select distinct p_login, kl_internal.environment_id(e.environment)
    from unnest(p_environments) as e (environment);
end;
$$;

comment on function kl.limit_analyst(text, text[]) is
'Let an analyst''s login see these environments only; an empty list lifts the limit.

Locks: none. Raises: KL101, KL102, KL201. Callers: CLI.';
