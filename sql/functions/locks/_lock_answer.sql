-- requires: core/_wire_time
create or replace function kl_internal.lock_answer(p_lock kl_internal.state_locks)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    -- Members of a kind that a client cannot read would hide the holder's ID from it.
    select jsonb_build_object(
        'ID', p_lock.lock_id,
        'Operation', coalesce(p_lock.operation, ''),
        'Info', '',
        'Who', coalesce(p_lock.who, ''),
        'Version', '',
        'Created', kl_internal.wire_time(p_lock.acquired_at),
        'Path', ''
    ) || coalesce(
        (
            select jsonb_object_agg(m.name, m.value)
            from jsonb_each(p_lock.lock_info::jsonb) as m (name, value)
            where case
                when m.name = 'Created' then
                    m.value #>> '{}' ~ '^\d{4}(-\d\d){2}T\d\d(:\d\d){2}(\.\d+)?(Z|[-+]\d\d:\d\d)$'
                when m.name in ('ID', 'Operation', 'Info', 'Who', 'Version', 'Path') then
                    jsonb_typeof(m.value) = 'string'
                else true
            end
        ),
        '{}'
    );
$$;

comment on function kl_internal.lock_answer(kl_internal.state_locks) is
'The whole LockInfo of a held lock, for whoever it is in the way of: what its holder sent, and what
that lacks or has in a form that Terraform cannot read from the row.';
