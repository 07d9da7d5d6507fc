create or replace function kl.commit_delta(
    p_name            text,
    p_apply_id        uuid,
    p_base_serial     numeric,
    p_base_version_id uuid,
    p_delta           json
)
returns table (committed_serial numeric, new_version_id uuid, version_no bigint)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan  -- planning would take longer than all the rest
set enable_seqscan = off
set enable_memoize = off
as $$
#variable_conflict use_column
declare
    v_digest    bytea;
    v_upload_id uuid := gen_random_uuid();
    v_delta     kl_internal.delta;
    v_state     kl_internal.states%rowtype;
    v_run       kl_internal.apply_runs%rowtype;
    v_base      kl_internal.state_versions%rowtype;
    v_draft     kl_internal.state_versions%rowtype;
    v_staged    record;
    v_outputs   text[] := array[]::text[];
    v_moved     text[];
    v_scopes    kl_gist.scope_multirange;
begin
    v_state := kl_internal.require_state(p_name, 'state:write');
    v_digest := kl_internal.delta_digest(p_base_serial, p_base_version_id, p_delta);
    v_delta := kl_internal.read_delta(p_delta);
    v_staged := kl_internal.stage_delta(v_state.id, v_upload_id, v_delta);

    -- Parsed and staged: from here on other writers wait.
    v_state := kl_internal.lock_known_state(v_state.id, p_name);
    v_draft := kl_internal.committed_before(p_apply_id, v_digest);
    if v_draft.state_id = v_state.id then
        perform kl_internal.sweep_delta(v_upload_id, v_delta);
        committed_serial := v_draft.serial;
        new_version_id := v_draft.id;
        version_no := v_draft.version_no;
        return next;
        return;
    end if;

    v_run := kl_internal.require_native_writer(v_state, p_apply_id);
    if v_staged.objects is null then
        select p.paths, p.addresses
        into v_staged.paths, v_staged.addresses
        from kl_internal.require_payloads(v_state.id, v_upload_id, v_delta) as p;
    end if;

    v_scopes := kl_internal.require_own_scopes(v_run, v_staged.paths, v_staged.addresses);
    v_base := kl_internal.base_version(v_state, p_base_serial, p_base_version_id);
    v_draft := kl_internal.successor_version(v_state, 'apply', v_run.actor, v_run.principal);
    perform kl_internal.require_lineage(v_draft, v_delta.lineage, p_base_version_id);
    if v_delta.output_writes is not null or v_delta.output_delete_set <> '{}' then
        select o.keys, o.conflicts
        into v_outputs, v_moved
        from kl_internal.rebased_outputs(
            v_base, v_state.current_version_no, v_run.id, v_upload_id, v_delta.output_delete_set
        ) as o;
    end if;

    if v_base.version_no < v_state.current_version_no then
        perform kl_internal.require_unmoved(
            v_base, v_state, v_run.id, v_upload_id, v_staged.paths, v_staged.set_ids, v_moved
        );
    end if;

    v_draft.run_id := v_run.id;
    v_draft.request_digest := v_digest;
    v_draft.written_scopes := v_scopes;
    if v_delta.terraform_version is not null or v_delta.check_results is not null then
        v_draft := kl_internal.merge_members(v_draft, v_delta);
    end if;

    v_draft := case
        when v_staged.objects is null then
            kl_internal.replace_instances(v_draft, v_upload_id, v_staged.paths)
        else kl_internal.replace_objects(
            v_draft, v_upload_id, v_delta.resources, v_staged.paths, v_staged.objects,
            v_staged.set_ids
        )
    end;
    if v_outputs <> '{}' then
        v_draft := kl_internal.change_outputs(v_draft, v_upload_id, v_outputs);
    end if;

    perform kl_internal.record_version(v_draft);
    if v_staged.objects is null or v_delta.output_writes is not null then
        perform kl_internal.sweep_delta(v_upload_id, v_delta);
    end if;

    committed_serial := v_draft.serial;
    new_version_id := v_draft.id;
    version_no := v_draft.version_no;
    return next;
end;
$$;

comment on function kl.commit_delta(text, uuid, numeric, uuid, json) is
'Commit what one apply run changed, at addresses it has reserved, as the next version of a state.

p_delta: lineage, terraform_version, write_set, delete_set, resources (every object, current and
deposed, at each address of write_set), output_writes, output_delete_set, check_results; or
raw_state, a whole document, with write_set. The base is p_base_version_id, or the oldest version
with p_base_serial; an older one is rebased when nothing stands against it. The same request again
gets the same answer.
Locks: state row. Raises: KL001, KL002 (encrypted by the client), KL003, KL101, KL102, KL201, KL202,
KL204, KL301, KL302, KL303, KL305, KL306. Callers: server, CLI.';
