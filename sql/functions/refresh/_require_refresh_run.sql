create or replace function kl_internal.require_refresh_run(p_refresh_run_id uuid)
returns kl_internal.refresh_runs
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run kl_internal.refresh_runs%rowtype;
begin
    select r.*
    into v_run
    from kl_internal.refresh_runs as r
    where r.id = p_refresh_run_id;

    if v_run.id is null then
        raise exception using
            errcode = 'KL204',
            message = format('there is no refresh run %s', p_refresh_run_id),
            detail = jsonb_build_object('refresh_run_id', p_refresh_run_id)::text;
    end if;

    perform kl_internal.authorize_state('state:write', v_run.state_id);

    if v_run.principal <> kl_internal.current_principal()
        and not kl_internal.has_scope('admin') then
        raise exception using
            errcode = 'KL102',
            message = format('refresh run %s is somebody else''s', p_refresh_run_id),
            detail = jsonb_build_object('refresh_run_id', p_refresh_run_id)::text;
    end if;

    if v_run.status <> 'running' then
        raise exception using
            errcode = 'KL306',
            message = format('refresh run %s has ended: %s', p_refresh_run_id, v_run.status),
            detail = jsonb_build_object('status', v_run.status)::text;
    end if;

    return v_run;
end;
$$;

comment on function kl_internal.require_refresh_run(uuid) is
'A refresh run that is still running and the caller''s, of a state the caller may write.

An admin may go on with anybody''s.
Raises: KL101, KL102, KL201, KL204, KL306.';
