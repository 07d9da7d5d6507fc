create or replace function kl_internal.require_native_writer(
    p_state    kl_internal.states,
    p_apply_id uuid
)
returns kl_internal.apply_runs
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run kl_internal.apply_runs%rowtype;
begin
    -- The caller may write the state; what a run lacks is asked only when it lacks something.
    select r.*
    into v_run
    from kl_internal.apply_runs as r
    where r.id = p_apply_id
        and exists (
            select
            from kl_internal.state_locks as l
            where l.state_id = p_state.id
                and l.kind = 'native'
                and l.apply_id = p_apply_id
        );

    -- By its key alone: an index on the state would be as good while no statistics know better.
    if v_run.state_id = p_state.id
        and v_run.status = 'running'
        and v_run.principal = kl_internal.current_principal() then
        return v_run;
    end if;

    v_run := kl_internal.own_apply_run(p_apply_id, 'state:write');
    if v_run.state_id is distinct from p_state.id then
        raise exception using
            errcode = 'KL001',
            message = format('apply run %s is of another state; nothing was stored', v_run.id),
            detail = jsonb_build_object('pointer', '/apply_id', 'apply_id', v_run.id)::text;
    end if;

    -- An expired run is refused for what it holds no more, which says more than that it has ended.
    if v_run.status <> 'expired' then
        perform kl_internal.require_running(v_run);
        perform kl_internal.require_native_lock(v_run);
    end if;
    return v_run;
end;
$$;

comment on function kl_internal.require_native_writer(kl_internal.states, uuid) is
'A running apply run of the caller''s on a state whose row is locked, with its coarse lock; or an
expired one, which holds nothing: the caller checks the scopes or the lease next.

The caller of this function has authorised that state for writing.

Raises: KL001 (another state''s), KL101, KL102, KL204, KL303, KL305, KL306.';
