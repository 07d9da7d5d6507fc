create or replace function kl.finish_refresh(
    p_refresh_run_id uuid,
    p_status         text,
    p_checked        integer,
    p_failed         integer,
    p_error_summary  text
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run        kl_internal.refresh_runs%rowtype;
    v_state      kl_internal.states%rowtype;
    v_changed    integer;
    v_superseded integer;
begin
    v_run := kl_internal.require_refresh_run(p_refresh_run_id);

    if p_status is null or p_status not in ('succeeded', 'failed', 'cancelled') then
        raise exception using
            errcode = 'KL001',
            message = 'a refresh ends as succeeded, failed or cancelled',
            detail = jsonb_build_object('status', p_status)::text;
    end if;

    if p_status = 'succeeded' then
        -- As at a commit: by now the client may have encrypted the state.
        select s.*
        into v_state
        from kl_internal.states as s
        where s.id = v_run.state_id;
        perform kl_internal.refuse_opaque(kl_internal.resolve_version(v_state, 'current'));
    end if;

    begin
        select
            cardinality(c.changed_addresses),
            c.superseded
        into v_changed, v_superseded
        from kl_internal.count_reads(p_refresh_run_id) as c;
    exception
        when data_exception then
            v_changed := null;  -- what cannot be compared cannot keep a run from its end
    end;

    update kl_internal.refresh_runs as r
    set status = p_status,
        finished_at = kl_internal.clock(),
        resources_checked = p_checked,
        resources_changed = v_changed,
        resources_failed = p_failed,
        resources_superseded = v_superseded,
        error_summary = p_error_summary
    where r.id = p_refresh_run_id
        and r.status = 'running';

    if not found then
        -- The same run was committed, or ended, while this waited for its row.
        perform kl_internal.require_refresh_run(p_refresh_run_id);
    end if;

    delete from kl_internal.staged_reads as s
    where s.refresh_run_id = p_refresh_run_id;
end;
$$;

comment on function kl.finish_refresh(uuid, text, integer, integer, text) is
'End a refresh that did not commit: failed, cancelled, or succeeded without a write (a dry run).

What it had staged is counted into its audit row, then dropped.
Locks: none. Raises: KL001, KL002 (succeeded, but encrypted by the client meanwhile), KL101, KL102,
KL201, KL204, KL306. Callers: CLI.';
