create or replace function kl_internal.slice_objects(p_state_id uuid, p_paths text[])
returns table (instance text, path text, deposed text, head text, members text)
language plpgsql
stable
rows 100
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with rows as materialized (
        select
            p.path as instance,
            coalesce(o.instance_provider, o.provider, '') as provider_address,
            o.*
        from unnest(p_paths) as p (path)
        cross join lateral (
            select r.*
            from kl_internal.resources as r
            where r.state_id = p_state_id
                and r.closed_no is null
                and r.path >= p.path collate "C"
                and r.path < (p.path || E'\x08') collate "C"
            offset 0  -- by the index, path for path: never a scan of all that is open
        ) as o
    ),
    providers as materialized (
        select
            d.provider_address,
            concat(
                '"provider":', coalesce(to_json(c.source)::text, 'null'),
                ',"provider_config":', json_build_object(
                    'address', nullif(d.provider_address, ''), 'alias', c.alias, 'module', c.module
                )
            ) as members
        from (
            select distinct r.provider_address
            from rows as r
        ) as d
        cross join lateral kl_internal.parse_provider(d.provider_address) as c
    )
    select
        t.instance,
        t.path,
        t.deposed,
        case when t.escaped then kl_internal.unescape_json(t.head) else t.head end,
        concat(
            case when t.escaped then kl_internal.unescape_json(t.members) else t.members end,
            ',"attributes_json":', coalesce(t.attributes::text, 'null'),
            ',"identity":' || t.identity::text
        )
    from (
        select
            r.instance,
            r.path,
            r.deposed,
            r.escaped,
            concat(
                '"address":', to_json(r.address),
                ',"mode":"', r.mode,
                '","type":', to_json(r.type),
                ',"name":', to_json(r.name),
                ',"module":', coalesce(to_json(r.module)::text, 'null'),
                ',"index_key":', coalesce(r.index_key::text, 'null')
            ) as head,
            concat(
                c.members,
                ',"schema_version":', coalesce(r.schema_version, 0),
                -- HMAC-SHA-256: equal attributes have equal ones; nobody else can try passwords.
                ',"attributes_hash":"sha256:', encode(
                    sha256(
                        k.outer_key || sha256(
                            k.inner_key || convert_to(
                                coalesce(r.attributes::text, r.attributes_flat::text, '{}'),
                                'UTF8'
                            )
                        )
                    ),
                    'hex'
                ), '"',
                ',"resource_version":', r.opened_no,
                ',"version_id":"', v.id,
                '","status":', coalesce(to_json(nullif(r.status, ''))::text, 'null'),
                ',"private":', coalesce(to_json(r.private)::text, 'null'),
                ',"dependencies":', coalesce(to_json(d.addresses)::text, '[]'),
                ',"create_before_destroy":', coalesce(r.create_before_destroy, false)::text,
                ',"sensitive_attributes":', coalesce(r.sensitive_attributes::text, '[]'),
                ',"identity_schema_version":' || r.identity_schema_version::text,
                ',"attributes_flat":' || r.attributes_flat::text,
                ',"extra":' || r.extra::text,
                ',"resource_extra":' || r.resource_extra::text
            ) as members,
            coalesce(r.identity_spelling, r.identity) as identity,
            case
                when r.attributes is not null or r.attributes_flat is null then
                    coalesce(r.attributes_spelling, r.attributes, '{}')
            end as attributes
        from rows as r
        cross join kl_internal.hash_keys as k
        inner join providers as c on c.provider_address = r.provider_address
        inner join kl_internal.state_versions as v
            on v.state_id = r.state_id
            and v.version_no = r.opened_no
        left join kl_internal.dependency_sets as d on d.id = r.dependency_set_id
    ) as t;
end;
$$;

comment on function kl_internal.slice_objects(uuid, text[]) is
'The objects at some paths of instances, as JSON text.

instance: the path it was asked for by. head: members of the instance. members: of one object.';
