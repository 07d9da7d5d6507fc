-- requires: states/_resolve_name
create or replace function kl_internal.lock_found_state(p_name text)
returns kl_internal.states
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    select s.*
    from kl_internal.resolve_name(p_name) as n
    inner join kl_internal.states as s
        on s.environment_id = n.environment_id
        and s.name = n.state_name
        and s.deleted_at is null
    for update of s;
$$;

comment on function kl_internal.lock_found_state(text) is
'The live state of that name under its row lock, a placeholder included; null where there is none.

Locks: state row. Raises: KL001, KL201 (no such environment).';
