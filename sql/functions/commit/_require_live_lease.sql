create or replace function kl_internal.require_live_lease(p_run kl_internal.apply_runs)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    if exists (
        select
        from kl_internal.resource_reservations as r
        where r.apply_id = p_run.id
            and r.expires_at > kl_internal.clock()
    ) then
        return;
    end if;

    raise exception using
        errcode = 'KL305',
        message = 'the run holds no live reservation any more; nothing was stored',
        detail = jsonb_build_object('apply_id', p_run.id, 'addresses', '[]'::jsonb)::text;
end;
$$;

comment on function kl_internal.require_live_lease(kl_internal.apply_runs) is
'Check that a run holds something now: with its last lease its native lock has ended too, whether
or not anybody has cleared it. The state row is locked.

Raises: KL305.';
