-- requires: verify/_resource_hash
create or replace function kl_internal.replace_rows(
    p_draft  kl_internal.state_versions,
    p_closed kl_internal.resources[],
    p_opened kl_internal.resources[]
)
returns kl_internal.state_versions
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_draft  kl_internal.state_versions%rowtype := p_draft;
    v_count  bigint;
    v_digest bigint;
begin
    with closed as (
        update kl_internal.resources as r
        set closed_no = p_draft.version_no
        from unnest(p_closed) as c
        where r.id = c.id
            and r.closed_no is null
        returning r.content_hash
    )
    select
        count(*),
        coalesce(bit_xor(c.content_hash), 0)
    into v_count, v_digest
    from closed as c;
    v_draft.object_count := v_draft.object_count - v_count;
    v_draft.content_digest := v_draft.content_digest # v_digest;

    with opened as (
        insert into kl_internal.resources (
            state_id, opened_no, path, address, config_address, module, mode, type, name,
            index_key, deposed, provider, instance_provider, resource_extra, status,
            schema_version, attributes, attributes_spelling, attributes_flat,
            sensitive_attributes, private, dependency_set_id, create_before_destroy, identity,
            identity_spelling, identity_schema_version, extra, escaped, content_hash
        )
        select
            p_draft.state_id, p_draft.version_no, n.path, n.address, n.config_address, n.module,
            n.mode, n.type, n.name, n.index_key, n.deposed, n.provider, n.instance_provider,
            n.resource_extra, n.status, n.schema_version, n.attributes, n.attributes_spelling,
            n.attributes_flat, n.sensitive_attributes, n.private, n.dependency_set_id,
            n.create_before_destroy, n.identity, n.identity_spelling, n.identity_schema_version,
            n.extra, n.escaped,
            kl_internal.resource_hash(
                n.path, n.module, n.index_key::text, n.provider, n.instance_provider,
                n.resource_extra::text, n.status, n.schema_version::text, n.attributes::text,
                n.attributes_flat::text, n.sensitive_attributes::text, n.private,
                n.dependency_set_id::text, n.create_before_destroy::text, n.identity::text,
                n.identity_schema_version::text, n.extra::text, n.escaped::text
            )
        from unnest(p_opened) as n
        returning content_hash
    )
    select
        count(*),
        coalesce(bit_xor(o.content_hash), 0)
    into v_count, v_digest
    from opened as o;
    v_draft.object_count := v_draft.object_count + v_count;
    v_draft.content_digest := v_draft.content_digest # v_digest;
    if v_draft.object_count > 0 then
        v_draft := kl_internal.with_member(v_draft, 'resources');
    end if;

    perform kl_internal.record_version(v_draft);
    return v_draft;
end;
$$;

comment on function kl_internal.replace_rows(
    kl_internal.state_versions, kl_internal.resources[], kl_internal.resources[]
) is
'Close and open resource rows, and record the version that does it; it comes back as recorded.

The caller holds the state row lock. Raises: unique_violation (an object is there already).';
