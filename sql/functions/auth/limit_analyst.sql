create or replace function kl.limit_analyst(p_login text, p_environments text[])
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform kl.require_admin();

    if p_environments <> '{}' and not exists (
        select
        from pg_roles as r
        where r.rolname = p_login
    ) then
        raise exception using
            errcode = 'KL001',
            message = format('there is no login %s', to_json(p_login)),
            detail = jsonb_build_object('login', p_login)::text;
    end if;

    delete from kl_internal.analyst_environments as a
    where a.login = p_login;

    insert into kl_internal.analyst_environments (login, environment_id)
    select distinct p_login, kl_internal.environment_id(e.environment)
    from unnest(p_environments) as e (environment);

    perform kl_internal.record_event(null, null, 'limit_analyst', jsonb_build_object(
        'login', p_login,
        'environments', p_environments
    ));
end;
$$;

comment on function kl.limit_analyst(text, text[]) is
'Let an analyst''s login see these environments only; an empty list lifts the limit.

A login is known by its name: whoever renames one sets its limit again.
Locks: none. Raises: KL001 (no such login), KL101, KL102, KL201. Callers: CLI.';
