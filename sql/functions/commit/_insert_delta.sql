-- requires: address/_instance_key_path, address/_instance_key_text, commit/_delta_headers
-- requires: json/_compact_json, upload/_key_problem, upload/_list_digest
-- requires: upload/_listed_dependencies, upload/_object_columns, verify/_resource_hash
create or replace function kl_internal.insert_delta(
    p_upload_id     uuid,
    p_resources     json,
    p_members       jsonb,
    out paths       text[],
    out addresses   text[],
    out are_plain   boolean,
    out has_problem boolean
)
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    -- Each step that carries all columns costs as much as the parsing: hence one row of functions,
    -- without the forms that spare an upload its repetitions. The text of attributes and identity
    -- is the client's, everything else comes from jsonb, as a null there does.
    with staged as (
        insert into kl_internal.upload_objects (
            upload_id, ordinal, path, address, config_address, module, mode, type, name,
            index_key, deposed, provider, instance_provider, resource_extra, status,
            schema_version, attributes, attributes_flat, sensitive_attributes, private,
            list_digest, create_before_destroy, identity, identity_schema_version, extra,
            escaped, content_hash, problem
        )
        select
            p_upload_id,
            ((coalesce(i.place, 1) - 1) * jsonb_array_length(p_members) + h.block)::integer,
            o.path, o.address, h.config_address, h.members ->> 'module', h.members ->> 'mode',
            h.members ->> 'type', h.members ->> 'name', o.index_key, o.deposed,
            h.members ->> 'provider', c.instance_provider, h.resource_extra, c.status,
            c.schema_version, o.attributes::json, c.attributes_flat, c.sensitive_attributes,
            c.private, kl_internal.list_digest(kl_internal.listed_dependencies(i.body)),
            c.create_before_destroy, o.identity::json, c.identity_schema_version, c.extra, false,
            kl_internal.resource_hash(
                o.path, h.members ->> 'module', o.index_key::text, h.members ->> 'provider',
                c.instance_provider, h.resource_extra::text, c.status, c.schema_version::text,
                o.attributes, c.attributes_flat::text, c.sensitive_attributes::text, c.private,
                null, c.create_before_destroy::text, o.identity, c.identity_schema_version::text,
                c.extra::text, false::text
            ),
            coalesce(
                h.problem,
                kl_internal.key_problem(o.index_key, i.body -> 'deposed'),
                case
                    when jsonb_typeof(i.body) is distinct from 'object' then
                        'it has what is no instance'
                end
            )
        from kl_internal.delta_headers(p_resources, p_members) as h
        left join lateral rows from (
            json_to_recordset(h.instances) as (attributes json, identity json),
            jsonb_array_elements(h.members -> 'instances')
        ) with ordinality as i (attributes, identity, body, place) on true
        cross join lateral (
            select
                k.index_key,
                coalesce(i.body ->> 'deposed', '') as deposed,
                h.path || kl_internal.instance_key_path(k.index_key, false)
                    || coalesce(E'\x07' || nullif(i.body ->> 'deposed', ''), '') as path,
                h.address || kl_internal.instance_key_text(k.index_key, false) as address,
                kl_internal.compact_json(
                    coalesce(i.attributes, (i.body -> 'attributes')::json)::text
                ) as attributes,
                kl_internal.compact_json(
                    coalesce(i.identity, (i.body -> 'identity')::json)::text
                ) as identity
            from (
                select nullif(i.body -> 'index_key', 'null') as index_key
            ) as k
            offset 0
        ) as o
        cross join lateral kl_internal.object_columns(
            o.address, h.members ->> 'provider', i.body
        ) as c
        -- A resource without instances is nothing to store, but its header may be wrong.
        where i.place is not null
            or h.problem is not null
        returning path, address, type, name, problem
    )
    -- An address is spelled in one way, and is of no other path, where type and name have no marks.
    -- U+0007 begins a deposed object's key.
    select
        array_agg(s.path order by s.path),
        array_agg(s.address order by s.path),
        count(*) = count(distinct s.path)
            and bool_and(
                s.type ~ '^\w[\w-]*$'
                and s.type not in ('module', 'data', 'resource')
                and s.name ~ '^\w[\w-]*$'
                and strpos(s.path, E'\x07') = 0
            ),
        coalesce(bool_or(s.problem is not null), false)
    from staged as s;
$$;

comment on function kl_internal.insert_delta(uuid, json, jsonb) is
'Parse the resources of a delta, none of which needs escapes, into upload_objects.

p_members: the same as p_resources. paths, addresses: of the objects, in path order. are_plain: each
is a current object, of its own path, whose address nobody spells otherwise. has_problem: one cannot
be stored; kl_internal.stage_noted says why. Raises: KL001; what a cast to json or jsonb raises.';
