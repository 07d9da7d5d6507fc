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
end;
$$;

comment on function kl_internal.record_version(kl_internal.state_versions) is
'Write one version and move the state to it.';
