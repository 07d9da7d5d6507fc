create or replace function kl.release_reservations(p_apply_id uuid)
returns bigint
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run kl_internal.apply_runs%rowtype;
begin
    v_run := kl_internal.own_apply_run(p_apply_id, 'state:write');
    perform kl_internal.lock_state_row(v_run.state_id);
    return kl_internal.free_apply_run(v_run);
end;
$$;

comment on function kl.release_reservations(uuid) is
'Free all that an apply run has reserved, and its native lock with it; returns how many scopes.

The run goes on. Released before: 0.
Locks: state row, then its reservations. Raises: KL101, KL102, KL201, KL204. Callers: server, CLI.';
