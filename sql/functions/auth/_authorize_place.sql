create or replace function kl_internal.authorize_place(
    p_environment_id uuid,
    p_state_name     text,
    p_grant          kl_internal.caller_grant
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if (p_grant.environment_ids is null or p_environment_id = any (p_grant.environment_ids))
        and (p_grant.state_prefix is null or starts_with(p_state_name, p_grant.state_prefix)) then
        return;
    end if;

    -- The same words whether the state exists or not.
    raise exception using
        errcode = 'KL102',
        message = format('%s has no right to this state', p_grant.principal),
        detail = jsonb_build_object('principal', p_grant.principal)::text;
end;
$$;

comment on function kl_internal.authorize_place(uuid, text, kl_internal.caller_grant) is
'Check that the caller''s grant covers a state of that name in that environment.

Raises: KL102.';
