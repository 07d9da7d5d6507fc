create or replace function kl.acquire_native_lock(
    p_name          text,
    p_apply_id      uuid,
    p_holder        text,
    p_scope_summary text[]
)
returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state kl_internal.states%rowtype;
    v_run   kl_internal.apply_runs%rowtype;
    v_held  kl_internal.state_locks%rowtype;
    v_id    text := 'state-engine-' || p_apply_id;
    v_who   text;
begin
    v_state := kl_internal.lock_run_state(p_name, p_apply_id);
    perform kl_internal.clear_dead_leases(v_state.id);
    v_run := kl_internal.require_apply_run(p_apply_id, 'state:write');
    v_who := coalesce(nullif(p_holder, ''), v_run.actor);
    v_held := kl_internal.terraform_lock(v_state.id);

    if v_held.id is not null then
        perform kl_internal.raise_locked(v_held);
    end if;

    if not exists (
        select
        from kl_internal.resource_reservations as r
        where r.apply_id = p_apply_id
    ) then
        raise exception using
            errcode = 'KL305',
            message = format('apply run %s has no live reservation: acquire first', p_apply_id),
            detail = jsonb_build_object('apply_id', p_apply_id)::text;
    end if;

    insert into kl_internal.state_locks (
        state_id, kind, lock_id, lock_info, operation, who, principal, apply_id, acquired_at
    )
    values (
        v_state.id,
        'native',
        v_id,
        kl_internal.native_lock_info(v_state.name, v_id, v_who, p_scope_summary),
        'state engine write',
        v_who,
        v_run.principal,
        v_run.id,
        kl_internal.clock()
    )
    on conflict do nothing;

    if found then
        perform kl_internal.act_as(v_who);
        perform kl_internal.record_event(
            v_state.id,
            v_state.name,
            'native_lock',
            jsonb_build_object('lock_id', v_id, 'apply_id', p_apply_id, 'who', v_who)
        );
    end if;

    return v_id;
end;
$$;

comment on function kl.acquire_native_lock(text, uuid, text, text[]) is
'Show a state as locked to plain Terraform while an apply run writes; returns the lock''s ID.

Several runs may hold one each. The run must have a live reservation, and the lock ends with its
last one. p_scope_summary: what the holder of the lock is said to write. Taken twice: the same ID.
Locks: state row. Raises: KL001, KL101, KL102, KL201, KL204, KL303 (a plain Terraform holds it),
KL305, KL306. Callers: server, CLI.';
