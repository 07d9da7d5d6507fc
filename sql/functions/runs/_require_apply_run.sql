create or replace function kl_internal.require_apply_run(p_apply_id uuid, p_scope text)
returns kl_internal.apply_runs
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run kl_internal.apply_runs%rowtype := kl_internal.own_apply_run(p_apply_id, p_scope);
begin
    perform kl_internal.require_running(v_run);
    return v_run;
end;
$$;

comment on function kl_internal.require_apply_run(uuid, text) is
'An apply run of the caller''s that is still running, of a state for which it has that scope.

What it finds is settled only for a caller that holds the state row lock.
Raises: KL101, KL102, KL201, KL204, KL306.';
