create or replace function kl_internal.free_apply_run(p_run kl_internal.apply_runs)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_freed bigint;
begin
    delete from kl_internal.resource_reservations as r
    where r.apply_id = p_run.id;
    get diagnostics v_freed = row_count;

    perform kl_internal.free_native_lock(p_run);
    if v_freed > 0 then
        perform pg_notify('kl_reservations', p_run.state_id::text);
    end if;

    return v_freed;
end;
$$;

comment on function kl_internal.free_apply_run(kl_internal.apply_runs) is
'Free the reservations of a run and its native lock, and wake who waits for them; returns how many.

The caller holds the state row lock.';
