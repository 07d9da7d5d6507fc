create or replace function kl.capabilities()
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        select jsonb_object_agg(
            c.capability,
            kl_internal.has_scope(c.scope)
                and not exists (
                    select
                    from unnest(c.functions) as f (name)
                    where not exists (
                        select
                        from pg_proc as p
                        where p.pronamespace = 'kl'::regnamespace
                            and p.proname = f.name
                            and has_function_privilege(session_user, p.oid, 'execute')
                    )
                )
        )
        from (
            values
                ('slice_fetch', 'state:read', array['fetch_slice']),
                ('slice_as_terraform_state', 'state:read', array['fetch_slice']),
                ('backend_closure_expansion', 'state:read', array['expand_scope']),
                ('apply_runs', 'state:write', array[
                    'begin_apply_run', 'apply_run_status', 'finish_apply_run', 'abort_apply_run',
                    'list_apply_runs'
                ]),
                ('resource_reservations', 'state:write', array[
                    'acquire_reservations', 'renew_reservations', 'release_reservations'
                ]),
                ('terraform_visible_native_lock', 'state:write', array[
                    'acquire_native_lock', 'release_native_lock'
                ]),
                ('delta_commit', 'state:write', array['commit_delta']),
                ('snapshot_commit', 'state:write', array['commit_snapshot']),
                ('native_state_rm', 'state:write', array['remove_resources']),
                ('native_state_mv', 'state:write', array['move_resources']),
                ('native_resource_rollback', 'state:write', array['rollback_resource'])
        ) as c (capability, scope, functions)
    );
end;
$$;

comment on function kl.capabilities() is
'Which parts of the state engine protocol are installed, and allowed for the caller: true or false.

Locks: none. Raises: KL101. Callers: server, CLI.';
