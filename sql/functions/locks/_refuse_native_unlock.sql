create or replace function kl_internal.refuse_native_unlock(p_state_id uuid, p_lock_id text)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_lock kl_internal.state_locks%rowtype;
begin
    perform kl_internal.clear_dead_leases(p_state_id);

    select l.*
    into v_lock
    from kl_internal.state_locks as l
    where l.state_id = p_state_id
        and l.kind = 'native'
        and (p_lock_id is null or l.lock_id = p_lock_id)
    order by l.acquired_at, l.id
    limit 1;

    if v_lock.id is not null then
        raise exception using
            errcode = 'KL303',
            message = format(
                '%s writes natively under lock %s, which nobody else frees: it ends with its run; '
                    || 'wait, or abort apply run %s',
                coalesce(nullif(v_lock.who, ''), 'somebody'), v_lock.lock_id, v_lock.apply_id
            ),
            detail = jsonb_build_object('lock', kl_internal.lock_answer(v_lock))::text;
    end if;
end;
$$;

comment on function kl_internal.refuse_native_unlock(uuid, text) is
'Refuse to unlock a state that only native writers hold, or a native lock named by its ID.

Who asked would take silence for success. Returns when there is none. The caller holds the state
row lock. Raises: KL303.';
