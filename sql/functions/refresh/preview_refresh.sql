create or replace function kl.preview_refresh(p_refresh_run_id uuid)
returns table (
    resources_checked     integer,
    resources_failed      integer,
    resources_superseded  integer,
    resources_missing     integer,
    changed_addresses     text[]
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform kl_internal.require_refresh_run(p_refresh_run_id);

    return query
    select c.checked, c.failed, c.superseded, c.missing, c.changed_addresses
    from kl_internal.count_reads(p_refresh_run_id) as c;
end;
$$;

comment on function kl.preview_refresh(uuid) is
'What kl.commit_refresh would change, without changing it: for a dry run, or for what failed.

Locks: none. Raises: KL101, KL102, KL201, KL204, KL306. Callers: CLI.';
