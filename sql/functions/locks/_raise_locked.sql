create or replace function kl_internal.raise_locked(p_lock kl_internal.state_locks)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using
        errcode = 'KL303',
        message = format(
            'the state is locked by %s since %s (%s, lock %s); %s',
            coalesce(p_lock.who, 'somebody'),
            to_char(p_lock.acquired_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'),
            coalesce(p_lock.operation, 'no operation named'),
            p_lock.lock_id,
            case p_lock.kind
                when 'native' then 'wait until it ends'
                else 'wait, or free it with "kl unlock"'
            end
        ),
        detail = jsonb_build_object('lock', kl_internal.lock_answer(p_lock))::text;
end;
$$;

comment on function kl_internal.raise_locked(kl_internal.state_locks) is
'Refuse what a held lock forbids, with the holder''s whole LockInfo. Never returns.

Raises: KL303.';
