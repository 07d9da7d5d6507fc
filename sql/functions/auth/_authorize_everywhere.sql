create or replace function kl_internal.authorize_everywhere(p_scope text)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_grant kl_internal.caller_grant := kl_internal.caller_grant();
begin
    perform kl_internal.authorize(p_scope);

    if v_grant.environment_ids is not null or v_grant.state_prefix is not null then
        raise exception using
            errcode = 'KL102',
            message = format(
                '%s has the scope %s, but not for the whole installation',
                v_grant.principal,
                p_scope
            ),
            detail = jsonb_build_object('scope', p_scope, 'principal', v_grant.principal)::text;
    end if;
end;
$$;

comment on function kl_internal.authorize_everywhere(text) is
'Check that the caller has a scope for the whole installation: what belongs to no state needs it.

Raises: KL101, KL102.';
