create or replace function kl.renew_reservations(p_apply_id uuid, p_lease interval)
returns table (address_glob text, mode text, expires_at timestamptz, widened boolean)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_run   kl_internal.apply_runs%rowtype;
    v_until timestamptz;
begin
    v_run := kl_internal.own_apply_run(p_apply_id, 'state:write');
    perform kl_internal.lock_state_row(v_run.state_id);
    v_until := kl_internal.lease_end(p_lease);

    -- Who waits knows when the lease ended before.
    if exists (
        select
        from kl_internal.resource_reservations as r
        where r.apply_id = p_apply_id
            and r.expires_at > v_until
    ) then
        perform pg_notify('kl_reservations', v_run.state_id::text);
    end if;

    return query
    update kl_internal.resource_reservations as r
    set expires_at = v_until
    where r.apply_id = p_apply_id
        and r.principal = kl_internal.current_principal()
        and r.expires_at > kl_internal.clock()
    returning r.address_glob, r.mode, r.expires_at, r.widened;

    if not found then
        raise exception using
            errcode = 'KL305',
            message = format('apply run %s has no live reservation to renew', p_apply_id),
            detail = jsonb_build_object('apply_id', p_apply_id)::text;
    end if;
end;
$$;

comment on function kl.renew_reservations(uuid, interval) is
'Let every live lease of an apply run end that much after now; a dead one stays dead.

A lease that gets shorter wakes who waits for its scope.
Locks: state row, then its reservations.
Raises: KL001, KL101, KL102, KL201, KL204, KL305. Callers: server, CLI.';
