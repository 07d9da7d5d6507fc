create or replace function kl_internal.free_native_lock(p_run kl_internal.apply_runs)
returns text
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_lock kl_internal.state_locks%rowtype;
begin
    delete from kl_internal.state_locks as l
    where l.state_id = p_run.state_id
        and l.apply_id = p_run.id
        and l.kind = 'native'
    returning l.* into v_lock;

    if v_lock.id is not null then
        perform kl_internal.record_event(
            v_lock.state_id,
            (
                select s.name
                from kl_internal.states as s
                where s.id = v_lock.state_id
            ),
            'native_unlock',
            jsonb_build_object(
                'lock_id', v_lock.lock_id, 'apply_id', v_lock.apply_id, 'who', v_lock.who
            )
        );
    end if;

    return v_lock.lock_id;
end;
$$;

comment on function kl_internal.free_native_lock(kl_internal.apply_runs) is
'Free the native lock of a run, with its audit line; its id, null when it held none.

The caller holds the state row lock.';
