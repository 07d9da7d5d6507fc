create or replace function kl_internal.require_running(p_run kl_internal.apply_runs)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_run.status <> 'running' then
        raise exception using
            errcode = 'KL306',
            message = format('apply run %s has ended: %s', p_run.id, p_run.status),
            detail = jsonb_build_object('apply_id', p_run.id, 'status', p_run.status)::text;
    end if;
end;
$$;

comment on function kl_internal.require_running(kl_internal.apply_runs) is
'Refuse what only a run that is still running may do.

Raises: KL306.';
