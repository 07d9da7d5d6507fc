create or replace function kl.commit_snapshot(
    p_name            text,
    p_apply_id        uuid,
    p_base_serial     numeric,
    p_base_version_id uuid,
    p_upload_id       uuid,
    p_objects         bigint,
    p_digest          bytea
)
returns table (
    outcome     text,
    version_id  uuid,
    version_no  bigint,
    serial      numeric,
    missing     text
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_state   kl_internal.states%rowtype;
    v_run     kl_internal.apply_runs%rowtype;
    v_base    kl_internal.state_versions%rowtype;
    v_before  kl_internal.state_versions%rowtype;
    v_origin  kl_internal.write_origin;
    v_written record;
begin
    v_state := kl_internal.require_state(p_name, 'state:write');
    v_state := kl_internal.lock_known_state(v_state.id, p_name);
    v_origin.source := 'apply';
    v_origin.forced := false;
    v_origin.run_id := p_apply_id;
    v_origin.request_digest := kl_internal.snapshot_digest(
        p_base_serial, p_base_version_id, p_upload_id, p_digest
    );

    v_before := kl_internal.committed_before(p_apply_id, v_origin.request_digest);
    if v_before.state_id = v_state.id then
        perform kl_internal.sweep_upload(p_upload_id);
        return query
        select 'unchanged', v_before.id, v_before.version_no, v_before.serial, '{}';
        return;
    end if;

    v_run := kl_internal.require_native_writer(v_state, p_apply_id);
    perform kl_internal.require_live_lease(v_run);
    v_base := kl_internal.base_version(v_state, p_base_serial, p_base_version_id);
    perform kl_internal.refuse_opaque(kl_internal.resolve_version(v_state, 'current'));
    if kl_internal.others_wrote_since(v_base, v_state.current_version_no, v_run.id) then
        perform kl_internal.raise_conflict(v_base, v_state, null);
    end if;

    v_origin.actor := v_run.actor;
    select c.*
    into v_written
    from kl_internal.commit_upload(v_state, p_upload_id, p_objects, p_digest, v_origin) as c;

    if v_written.outcome = 'written' then
        perform kl_internal.refuse_opaque(kl_internal.resolve_version(
            v_state, v_written.version_id::text
        ));
        perform kl_internal.require_unreserved(v_state.id, v_run.id, v_written.version_no);
    end if;

    return query
    select
        v_written.outcome, v_written.version_id, v_written.version_no, v_written.serial,
        v_written.missing;
end;
$$;

comment on function kl.commit_snapshot(
    text, uuid, numeric, uuid, uuid, bigint, bytea
) is
'Make a staged document the next version of a state on behalf of an apply run.

The base must be current, but for the run''s own commits, and no other run may have reserved what
the document changes. Arguments and outcome otherwise as kl.write_state; the same request again is
unchanged, with the version it made.
Locks: state row. Raises: KL001, KL002 (encrypted by the client), KL101, KL102, KL201, KL202, KL204,
KL301, KL302, KL303, KL305, KL306. Callers: server, CLI.';
