create or replace function kl_internal.others_wrote_since(
    p_base       kl_internal.state_versions,
    p_current_no bigint,
    p_run_id     uuid
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return p_base.version_no < p_current_no and exists (
        select
        from kl_internal.state_versions as v
        where v.state_id = p_base.state_id
            and v.version_no > p_base.version_no
            and v.run_id is distinct from p_run_id
    );
end;
$$;

comment on function kl_internal.others_wrote_since(
    kl_internal.state_versions, bigint, uuid
) is
'Whether a version after that one, up to the current one, is not the run''s own.';
