-- requires: refresh/_compared_reads.view, verify/_resource_hash
create or replace function kl_internal.open_refreshed(
    p_refresh_run_id uuid,
    p_version_no     bigint,
    out opened_count  bigint,
    out opened_digest bigint
)
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    with compared as materialized (
        select c.*
        from kl_internal.compared_reads as c
        where c.refresh_run_id = p_refresh_run_id
            and c.changed
            and c.outcome = 'read'
            and (c.base).closed_no = p_version_no
    ),
    noted as (
        insert into kl_internal.upgraded_changes (state_id, path, version_no)
        select (c.base).state_id, (c.base).path, p_version_no
        from compared as c
        where c.beyond_upgrade
    ),
    opened as (
        insert into kl_internal.resources (
            state_id, opened_no, path, address, config_address, module, mode, type, name,
            index_key, deposed, provider, instance_provider, resource_extra, status,
            schema_version, attributes, attributes_flat, sensitive_attributes, private,
            dependency_set_id, create_before_destroy, identity, identity_schema_version, extra,
            escaped, content_hash
        )
        select
            n.state_id, p_version_no, n.path, n.address, n.config_address, n.module, n.mode,
            n.type, n.name, n.index_key, n.deposed, n.provider, n.instance_provider,
            n.resource_extra, n.status, n.schema_version, c.attributes, n.attributes_flat,
            n.sensitive_attributes, n.private, n.dependency_set_id, n.create_before_destroy,
            c.identity, n.identity_schema_version, n.extra, c.escaped,
            kl_internal.resource_hash(
                n.path, n.module, n.index_key::text, n.provider, n.instance_provider,
                n.resource_extra::text, n.status, n.schema_version::text, c.attributes::text,
                n.attributes_flat::text, n.sensitive_attributes::text, n.private,
                n.dependency_set_id::text, n.create_before_destroy::text, c.identity::text,
                n.identity_schema_version::text, n.extra::text, c.escaped::text
            )
        from compared as c
        cross join lateral jsonb_populate_record(c.renewed, '{}') as n
        returning content_hash
    )
    select
        count(*),
        coalesce(bit_xor(o.content_hash), 0)
    from opened as o;
$$;

comment on function kl_internal.open_refreshed(uuid, bigint) is
'Open a row with what the provider says for each row that was closed and is not gone.';
