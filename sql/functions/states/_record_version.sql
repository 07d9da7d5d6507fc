create or replace function kl_internal.record_version(p_draft kl_internal.state_versions)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into kl_internal.state_versions
    select p_draft.*;

    update kl_internal.states as s
    set current_version_no = p_draft.version_no
    where s.id = p_draft.state_id;
end;
$$;

comment on function kl_internal.record_version(kl_internal.state_versions) is
'Write one version and move the state to it.';
