-- requires: upload/_object_hash
create or replace function kl_internal.version_hash(p_version kl_internal.state_versions)
returns bigint
language sql
stable  -- as the casts to text are: otherwise it would not be inlined
parallel safe
as $$
    select kl_internal.object_hash(array[
        p_version.state_id::text, p_version.version_no::text, p_version.serial::text,
        p_version.lineage, p_version.source, p_version.operation, p_version.actor,
        p_version.principal, p_version.run_id::text, p_version.terraform_version,
        p_version.check_results::text, p_version.extra::text, p_version.omitted::text,
        p_version.escaped::text, p_version.opaque::text, p_version.object_count::text,
        p_version.output_count::text, p_version.content_digest::text,
        pg_catalog.encode(p_version.request_digest, 'hex'),
        (p_version.created_at at time zone 'UTC')::text
    ]);
$$;

comment on function kl_internal.version_hash(kl_internal.state_versions) is
'state_versions.row_hash from the other columns of the row. Inlined.';
