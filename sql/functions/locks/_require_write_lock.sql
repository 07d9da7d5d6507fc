create or replace function kl_internal.require_write_lock(
    p_state   kl_internal.states,
    p_lock_id text
)
returns kl_internal.state_locks
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_lock kl_internal.state_locks%rowtype;
begin
    perform kl_internal.clear_dead_leases(p_state.id);

    select l.*
    into v_lock
    from kl_internal.state_locks as l
    where l.state_id = p_state.id
    order by l.kind desc, l.acquired_at
    limit 1;

    if v_lock.id is null and p_lock_id is null
        or v_lock.kind = 'terraform' and v_lock.lock_id = p_lock_id then
        return v_lock;
    end if;

    if v_lock.id is null then
        raise exception using
            errcode = 'KL304',
            message = format(
                'lock %s is not held any more: it was taken away; run the command again',
                to_json(p_lock_id)
            ),
            detail = jsonb_build_object('lock_id', p_lock_id)::text;
    end if;

    if v_lock.kind = 'terraform' and p_lock_id is not null then
        raise exception using
            errcode = 'KL304',
            message = format(
                'lock %s is not the one that is held: %s holds %s',
                to_json(p_lock_id), coalesce(v_lock.who, 'somebody'), v_lock.lock_id
            ),
            detail = jsonb_build_object('lock', kl_internal.lock_answer(v_lock))::text;
    end if;

    perform kl_internal.raise_locked(v_lock);
    return null;
end;
$$;

comment on function kl_internal.require_write_lock(kl_internal.states, text) is
'The lock that a plain write goes under: the caller''s, or none when nothing is held.

Native locks whose lease has ended are cleared first.
Raises: KL303 (held, and no ID given; held by a native write), KL304 (an ID that does not hold).';
