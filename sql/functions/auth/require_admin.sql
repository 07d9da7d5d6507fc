create or replace function kl.require_admin()
returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_grant kl_internal.caller_grant := kl_internal.caller_grant();
begin
    perform kl_internal.authorize('admin');

    if v_grant.environment_ids is not null or v_grant.state_prefix is not null then
        raise exception using
            errcode = 'KL102',
            message = format('%s is no admin of the whole installation', v_grant.principal),
            detail = jsonb_build_object('principal', v_grant.principal)::text;
    end if;
end;
$$;

comment on function kl.require_admin() is
'Check that the caller is an admin of the whole installation, not of one environment or prefix.

Locks: none. Raises: KL101, KL102. Callers: server, CLI.';
