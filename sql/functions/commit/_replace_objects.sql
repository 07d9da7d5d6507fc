-- requires: json/_same_json, upload/_dependency_hash
create or replace function kl_internal.replace_objects(
    p_draft     kl_internal.state_versions,
    p_upload_id uuid,
    p_resources json,
    p_paths     text[],
    p_objects   kl_internal.upload_objects[],
    p_set_ids   bigint[]
)
returns kl_internal.state_versions
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_draft   kl_internal.state_versions%rowtype := p_draft;
    v_look    record;
    v_changed record;
begin
    select
        bool_or(
            not r.escaped
            and kl_internal.same_json(
                coalesce(r.attributes, '{}'), coalesce(o.attributes, '{}'), false
            )
        ) as may_be_same,
        bool_or(r.id is null or r.provider is distinct from o.provider) as may_part
    into v_look
    from unnest(p_objects) as o
    left join kl_internal.resources as r
        on r.state_id = p_draft.state_id
        and r.closed_no is null
        and r.path = o.path;

    if v_look.may_be_same then
        -- Its row may stay: the stage knows how.
        perform kl_internal.stage_delta_objects(
            p_draft.state_id, p_upload_id, p_objects, p_resources::jsonb
        );
        v_draft := kl_internal.replace_instances(p_draft, p_upload_id, p_paths);
        perform kl_internal.sweep_upload(p_upload_id);
        return v_draft;
    end if;

    with closed as (
        update kl_internal.resources as r
        set closed_no = p_draft.version_no
        from unnest(p_paths) as p (path)
        where r.state_id = p_draft.state_id
            and r.closed_no is null
            and r.path >= p.path collate "C"
            and r.path < p.path || E'\x08' collate "C"
        returning r.content_hash
    ),
    closings as materialized (
        select
            count(*) as closed_count,
            coalesce(bit_xor(c.content_hash), 0) as digest
        from closed as c
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
            p_draft.state_id, p_draft.version_no, o.path, o.address, o.config_address, o.module,
            o.mode, o.type, o.name, o.index_key, o.deposed, o.provider, o.instance_provider,
            o.resource_extra, o.status, o.schema_version, o.attributes, o.attributes_flat,
            o.sensitive_attributes, o.private, p_set_ids[o.place], o.create_before_destroy,
            o.identity, o.identity_schema_version, o.extra, o.escaped,
            o.content_hash
                # kl_internal.dependency_hash(null)
                # kl_internal.dependency_hash(p_set_ids[o.place]::text)
        from closings as c  -- read first: a path is free when it is closed
        cross join unnest(p_objects) with ordinality as o (
            upload_id, ordinal, path, address, config_address, module, mode, type, name, index_key,
            deposed, provider, instance_provider, resource_extra, status, schema_version,
            attributes, attributes_flat, sensitive_attributes, private, list_digest,
            create_before_destroy, identity, identity_schema_version, extra, escaped, slice_hash,
            content_hash, unchanged, problem, problem_detail, staged_at, place
        )
        returning content_hash
    )
    select
        c.closed_count,
        count(*) as opened_count,
        c.digest # bit_xor(o.content_hash) as digest
    into v_changed
    from closings as c
    cross join opened as o
    group by c.closed_count, c.digest;

    if v_look.may_part then
        perform kl_internal.require_sibling_providers(
            p_draft.state_id, p_draft.version_no, p_paths
        );
    end if;

    v_draft.object_count := v_draft.object_count + v_changed.opened_count
        - v_changed.closed_count;
    v_draft.content_digest := v_draft.content_digest # v_changed.digest;
    if v_draft.omitted <> '{}' or v_draft.extra is not null then
        v_draft := kl_internal.with_member(v_draft, 'resources');
    end if;

    return v_draft;
end;
$$;

comment on function kl_internal.replace_objects(
    kl_internal.state_versions, uuid, json, text[], kl_internal.upload_objects[], bigint[]
) is
'Bring the instances at some paths to what a plain delta (kl_internal.stage_delta) says of them.

As kl_internal.replace_instances does from the stage. p_paths, p_objects, p_set_ids: in one order.
The version in the making comes back with its new counts and digest. Raises: KL001.';
