create or replace function kl_internal.status_version(p_state_id uuid, p_version_no bigint)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        select jsonb_build_object(
            'version_id', v.id,
            'version_no', v.version_no,
            'serial', v.serial,
            'lineage', v.lineage,
            'source', v.source,
            'operation', v.operation,
            'actor', v.actor,
            'terraform_version', v.terraform_version,
            'opaque', v.opaque,
            'objects', v.object_count,
            'outputs', v.output_count,
            'created_at', kl_internal.wire_time(v.created_at)
        )
        from kl_internal.state_versions as v
        where v.state_id = p_state_id
            and v.version_no = p_version_no
    );
end;
$$;

comment on function kl_internal.status_version(uuid, bigint) is
'One version, as kl.state_status shows it.';
