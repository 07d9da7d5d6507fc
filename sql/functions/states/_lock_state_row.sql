create or replace function kl_internal.lock_state_row(p_state_id uuid)
returns kl_internal.states
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    select s.*
    from kl_internal.states as s
    where s.id = p_state_id
    for update;
$$;

comment on function kl_internal.lock_state_row(uuid) is
'The state with that id under its row lock.

Locks: state row.';
