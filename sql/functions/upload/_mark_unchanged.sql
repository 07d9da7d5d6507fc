-- requires: json/_canonical_set, json/_same_json, upload/_same_dependencies
create or replace function kl_internal.mark_unchanged(
    p_state_id        uuid,
    p_upload_id       uuid,
    out marked_count  bigint,
    out row_count     bigint
)
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    -- Bytes that differ may still mean the same: key order, white space, number spelling, and the
    -- order of sensitive paths and dependencies. Such an object keeps its row.
    with same as materialized (
        select
            r.id,
            u.ordinal,
            u.slice_hash,
            case
                when u.attributes::text <> r.attributes::text then u.attributes
            end as attributes_spelling,
            case when u.identity::text <> r.identity::text then u.identity end as identity_spelling
        from kl_internal.upload_objects as u
        inner join kl_internal.resources as r
            on r.state_id = p_state_id
            and r.closed_no is null
            and r.path = u.path
        cross join lateral (
            select (
                select l.dependency_set_id
                from kl_internal.upload_dependencies as l
                where l.upload_id = p_upload_id
                    and l.list_digest = u.list_digest
                limit 1
            ) as id
            offset 0
        ) as d
        where u.upload_id = p_upload_id
            and r.module is not distinct from u.module
            and r.index_key is not distinct from u.index_key
            and r.provider is not distinct from u.provider
            and r.instance_provider is not distinct from u.instance_provider
            and r.resource_extra is not distinct from u.resource_extra
            and r.status is not distinct from u.status
            and r.schema_version is not distinct from u.schema_version
            and kl_internal.same_json(
                coalesce(r.attributes, '{}'), coalesce(u.attributes, '{}'), r.escaped
            )
            and r.attributes_flat is not distinct from u.attributes_flat
            -- Terraform reads the flat ones only where there are no others.
            and (r.attributes_flat is null or (r.attributes is null) = (u.attributes is null))
            and kl_internal.canonical_set(r.sensitive_attributes)
                is not distinct from kl_internal.canonical_set(u.sensitive_attributes)
            and r.private is not distinct from u.private
            and (
                r.dependency_set_id is not distinct from d.id
                or kl_internal.same_dependencies(r.dependency_set_id, d.id)
            )
            and r.create_before_destroy is not distinct from u.create_before_destroy
            and kl_internal.same_json(r.identity, u.identity, r.escaped)
            and r.identity_schema_version is not distinct from u.identity_schema_version
            and r.extra is not distinct from u.extra
            and r.escaped = u.escaped
    ),
    remembered as (
        update kl_internal.resources as r
        set slice_hash = s.slice_hash,
            attributes_spelling = s.attributes_spelling,
            identity_spelling = s.identity_spelling
        from same as s
        where r.id = s.id
    ),
    marked as (
        update kl_internal.upload_objects as u
        set unchanged = true
        from same as s
        where u.upload_id = p_upload_id
            and u.ordinal = s.ordinal
    ),
    raised as (
        update kl_internal.states as t
        set slices_no = t.slices_no + 1
        where t.id = p_state_id
            and exists (select from same as s)
    )
    select
        count(s.ordinal),
        count(distinct s.id)
    from same as s;
$$;

comment on function kl_internal.mark_unchanged(uuid, uuid) is
'Mark the staged objects that equal their open row as JSON values, and remember their new bytes.

marked_count: how many objects; row_count: how many rows.';
