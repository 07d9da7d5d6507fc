-- requires: json/_canonical_set
-- requires: json/_same_json
-- requires: upload/_parsed_objects
-- requires: upload/_same_dependencies
create or replace function kl_internal.mark_unchanged(p_state_id uuid, p_upload_id uuid)
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
set enable_nestloop = off  -- the stage has no statistics: it is as large as the state
as $$
    -- Bytes that differ may still mean the same: key order, white space, number spelling, and the
    -- order of sensitive paths and dependencies. Such an object keeps its row.
    with same as (
        select
            r.id,
            p.ordinal,
            case
                when p.attributes::text <> r.attributes::text then p.attributes
            end as attributes_spelling,
            case when p.identity::text <> r.identity::text then p.identity end as identity_spelling
        from kl_internal.parsed_objects(p_upload_id) as p
        inner join kl_internal.upload_objects as u
            on u.upload_id = p_upload_id
            and u.ordinal = p.ordinal
        inner join kl_internal.resources as r
            on r.state_id = p_state_id
            and r.closed_no is null
            and r.path = u.path
        where r.module is not distinct from u.module
            and r.index_key is not distinct from u.index_key
            and r.provider is not distinct from u.provider
            and r.instance_provider is not distinct from p.instance_provider
            and r.resource_extra is not distinct from u.resource_extra
            and r.status is not distinct from p.status
            and r.schema_version is not distinct from p.schema_version
            and kl_internal.same_json(
                coalesce(r.attributes, '{}'), coalesce(p.attributes, '{}'), r.escaped
            )
            and r.attributes_flat is not distinct from p.attributes_flat
            -- Terraform reads the flat ones only where there are no others.
            and (r.attributes_flat is null or (r.attributes is null) = (p.attributes is null))
            and kl_internal.canonical_set(r.sensitive_attributes)
                is not distinct from kl_internal.canonical_set(p.sensitive_attributes)
            and r.private is not distinct from p.private
            and (
                r.dependency_set_id is not distinct from u.dependency_set_id
                or kl_internal.same_dependencies(r.dependency_set_id, u.dependency_set_id)
            )
            and r.create_before_destroy is not distinct from p.create_before_destroy
            and kl_internal.same_json(r.identity, p.identity, r.escaped)
            and r.identity_schema_version is not distinct from p.identity_schema_version
            and r.extra is not distinct from p.extra
            and r.escaped = u.escaped
    ),
    remembered as (
        update kl_internal.resources as r
        set slice_hash = k.digest,
            attributes_spelling = s.attributes_spelling,
            identity_spelling = s.identity_spelling
        from same as s
        inner join kl_internal.staged_keys as k
            on k.upload_id = p_upload_id
            and k.ordinal = s.ordinal
        where r.id = s.id
    )
    update kl_internal.upload_objects as u
    set unchanged = true
    from same as s
    where u.upload_id = p_upload_id
        and u.ordinal = s.ordinal;
$$;

comment on function kl_internal.mark_unchanged(uuid, uuid) is
'Mark the staged objects that equal their open row as JSON values, and remember their new bytes.';
