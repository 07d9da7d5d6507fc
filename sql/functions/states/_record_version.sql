create or replace function kl_internal.record_version(p_draft kl_internal.state_versions)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_draft kl_internal.state_versions%rowtype := p_draft;
begin
    v_draft.row_hash := kl_internal.version_hash(v_draft);

    insert into kl_internal.state_versions
    select v_draft.*;

    update kl_internal.states as s
    set current_version_no = p_draft.version_no
    where s.id = p_draft.state_id;

    if p_draft.source = 'apply' and p_draft.run_id is not null then
        update kl_internal.apply_runs as a
        set to_version_id = p_draft.id,
            committed_serial = p_draft.serial
        where a.id = p_draft.run_id;
    end if;
end;
$$;

comment on function kl_internal.record_version(kl_internal.state_versions) is
'Write one version, move the state to it, and tell the native run that made it.';
