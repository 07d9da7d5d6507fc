create or replace function kl_internal.clear_dead_leases(p_state_id uuid)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := kl_internal.clock();
    v_run kl_internal.apply_runs%rowtype;
    v_ids uuid[];
begin
    with dead as (
        delete from kl_internal.resource_reservations as r
        where r.state_id = p_state_id
            and r.expires_at <= v_now
        returning r.apply_id
    )
    select array_agg(distinct d.apply_id)
    into v_ids
    from dead as d;

    for v_run in
        select a.*
        from kl_internal.apply_runs as a
        where a.id in (
                select unnest(v_ids)
                union
                select l.apply_id
                from kl_internal.state_locks as l
                where l.state_id = p_state_id
                    and l.kind = 'native'
            )
            and not exists (
                select
                from kl_internal.resource_reservations as r
                where r.apply_id = a.id
            )
        order by a.id
    loop
        perform kl_internal.free_native_lock(v_run);

        update kl_internal.apply_runs as a
        set status = 'expired',
            error_summary = 'its lease ended before it did',
            finished_at = v_now
        where a.id = v_run.id
            and a.status = 'running'
            and a.id = any (v_ids);
    end loop;

    if v_ids is not null then
        perform pg_notify('kl_reservations', p_state_id::text);
    end if;
end;
$$;

comment on function kl_internal.clear_dead_leases(uuid) is
'Delete the reservations of a state whose lease has ended, and what hung on them.

A run that has none left loses its native lock and, if it was running, has expired.
The caller holds the state row lock; every lock, plain write and acquire begins with it.';
