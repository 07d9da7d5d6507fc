-- requires: address/_instance_key_path, address/_instance_key_text, address/_parse_module
-- requires: address/_resource_path, json/_compact_json, upload/_checked_paths
-- requires: upload/_dependency_addresses, upload/_dependency_digest, upload/_list_digest
-- requires: verify/_resource_hash
create or replace function kl_internal.delta_objects(
    p_state_id    uuid,
    p_upload_id   uuid,
    p_resources   json,
    p_members     jsonb,
    out objects   kl_internal.upload_objects[],
    out set_ids   bigint[],
    out paths     text[],
    out addresses text[],
    out are_plain boolean
)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    -- Few functions, in few steps: to get each of them ready costs as much as the parsing. The text
    -- of attributes and identity is the client's, everything else comes from jsonb. The row has the
    -- columns of upload_objects in their order, as kl_internal.replace_objects names them.
    select
        array_agg(p.object order by (p.object).path),
        array_agg(p.set_id order by (p.object).path),
        array_agg((p.object).path order by (p.object).path),
        array_agg((p.object).address order by (p.object).path),
        count(*) = count(distinct (p.object).path)
            and bool_and((p.object).deposed = '' and (p.has_no_list or p.set_id is not null))
    from (
        select
            o.list is null as has_no_list,
            (
                select k.id
                from kl_internal.dependency_sets as k
                where k.state_id = p_state_id
                    and k.digest = kl_internal.dependency_digest(
                        kl_internal.dependency_addresses(o.list)
                    )
                    and o.list is not null
            ) as set_id,
            row(
                p_upload_id,
                ((i.place - 1) * jsonb_array_length(p_members) + h.block)::integer,
                o.path, o.address, o.config_address, h.members ->> 'module',
                h.members ->> 'mode', h.members ->> 'type', h.members ->> 'name', o.index_key,
                o.deposed, h.members ->> 'provider', null, o.resource_extra, i.body ->> 'status',
                (i.body ->> 'schema_version')::numeric, o.attributes::json, null,
                o.sensitive_attributes, i.body ->> 'private', kl_internal.list_digest(o.list),
                (i.body ->> 'create_before_destroy')::boolean, o.identity::json,
                (i.body ->> 'identity_schema_version')::numeric, o.extra, false, null,
                kl_internal.resource_hash(
                    o.path, h.members ->> 'module', o.index_key::text, h.members ->> 'provider',
                    null, o.resource_extra::text, i.body ->> 'status',
                    i.body ->> 'schema_version', o.attributes, null,
                    o.sensitive_attributes::text, i.body ->> 'private', null,
                    i.body ->> 'create_before_destroy', o.identity,
                    i.body ->> 'identity_schema_version', o.extra::text, 'false'
                ),
                false, null, null, now()
            )::kl_internal.upload_objects as object
        from rows from (
            json_to_recordset(p_resources) as (instances json),
            jsonb_array_elements(p_members)
        ) with ordinality as h (instances, members, block)
        cross join lateral kl_internal.parse_module(h.members ->> 'module') as m
        cross join lateral rows from (
            json_to_recordset(h.instances) as (attributes json, identity json),
            jsonb_array_elements(h.members -> 'instances')
        ) with ordinality as i (attributes, identity, body, place)
        cross join lateral (
            select
                i.body -> 'index_key' as index_key,
                coalesce(i.body ->> 'deposed', '') as deposed,
                i.body -> 'dependencies' as list,
                kl_internal.resource_path(
                    m.module_path, h.members ->> 'mode', h.members ->> 'type', h.members ->> 'name'
                )
                    || kl_internal.instance_key_path(i.body -> 'index_key', false)
                    || coalesce(E'\x07' || (i.body ->> 'deposed'), '') as path,
                concat_ws('.', nullif(m.address, ''), b.block_name)
                    || kl_internal.instance_key_text(i.body -> 'index_key', false) as address,
                concat_ws('.', nullif(m.config_address, ''), b.block_name) as config_address,
                nullif(
                    h.members - array['module', 'mode', 'type', 'name', 'provider', 'instances'],
                    '{}'
                ) as resource_extra,
                kl_internal.compact_json(i.attributes::text) as attributes,
                kl_internal.compact_json(i.identity::text) as identity,
                case
                    when i.body -> 'sensitive_attributes' = '[]' then '[]'
                    else kl_internal.checked_paths(b.block_name, i.body -> 'sensitive_attributes')
                end as sensitive_attributes,
                nullif(
                    i.body - array[
                        'index_key', 'status', 'deposed', 'schema_version', 'attributes',
                        'sensitive_attributes', 'private', 'dependencies',
                        'create_before_destroy', 'identity', 'identity_schema_version'
                    ],
                    '{}'
                ) as extra
            from (
                select concat_ws(
                    '.',
                    case when h.members ->> 'mode' = 'data' then 'data' end,
                    h.members ->> 'type',
                    h.members ->> 'name'
                ) as block_name
                offset 0
            ) as b
            offset 0
        ) as o
        offset 0
    ) as p;
$$;

comment on function kl_internal.delta_objects(uuid, uuid, json, jsonb) is
'The objects of a delta of ordinary resources (kl_internal.are_ordinary), in path order: as they
would be staged.

p_members: the same as p_resources. set_ids: of their dependencies lists, null where there is none
or the state does not know it. are_plain: each is a current object, of its own path, with a known
list. Raises: KL001.';
