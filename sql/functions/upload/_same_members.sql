create or replace function kl_internal.same_members(
    p_current kl_internal.state_versions,
    p_draft   kl_internal.state_versions,
    p_digest  bytea
)
returns boolean
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
    select p_current.opaque = p_draft.opaque
        and (not p_draft.opaque or p_current.request_digest = p_digest)
        and p_current.terraform_version is not distinct from p_draft.terraform_version
        and p_current.check_results is not distinct from p_draft.check_results
        and p_current.extra is not distinct from p_draft.extra
        and p_current.omitted = p_draft.omitted
        and p_current.escaped = p_draft.escaped;
$$;

comment on function kl_internal.same_members(
    kl_internal.state_versions,
    kl_internal.state_versions,
    bytea
) is
'Whether two documents have the same top-level members besides resources and outputs.';
