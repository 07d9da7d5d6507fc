-- requires: address/_instance_key_path, address/_instance_key_text, json/_staged_json
-- requires: upload/_key_problem, upload/_list_digest, upload/_listed_dependencies
-- requires: upload/_object_columns, upload/_parsed_headers, upload/_refuse_object
-- requires: verify/_resource_hash
create or replace function kl_internal.parsed_objects(
    p_ordinals   integer[],
    p_blocks     integer[],
    p_forms      integer[],
    p_headers    bytea[],
    p_bodies     jsonb[],
    p_keys       bytea[],
    p_attributes bytea[],
    p_identities bytea[],
    p_digests    bytea[],
    p_escaped    boolean
)
returns table (
    ordinal                  integer,
    path                     text,
    address                  text,
    config_address           text,
    module                   text,
    mode                     text,
    type                     text,
    name                     text,
    index_key                jsonb,
    deposed                  text,
    provider                 text,
    instance_provider        text,
    resource_extra           jsonb,
    status                   text,
    schema_version           numeric,
    attributes               json,
    attributes_flat          jsonb,
    sensitive_attributes     jsonb,
    private                  text,
    list_digest              uuid,
    create_before_destroy    boolean,
    identity                 json,
    identity_schema_version  numeric,
    extra                    jsonb,
    slice_hash               bytea,
    content_hash             bigint,
    problem                  text
)
language sql
stable
as $$
    -- Instances of one resource have most members in common: those are read once.
    with forms as materialized (
        select
            f.block,
            f.form,
            h.path,
            h.address,
            h.config_address,
            h.header ->> 'module' as module,
            h.header ->> 'mode' as mode,
            h.header ->> 'type' as type,
            h.header ->> 'name' as name,
            h.header ->> 'provider' as provider,
            h.resource_extra,
            h.problem,
            nullif(b.body -> 'index_key', 'null') as index_key,
            b.body -> 'deposed' as deposed_json,
            coalesce(b.body ->> 'deposed', '') as deposed,
            kl_internal.list_digest(kl_internal.listed_dependencies(b.body)) as list_digest,
            c.*
        from (
            select distinct on (o.block, o.form)
                o.block,
                o.form,
                o.key
            from rows from (
                pg_catalog.unnest(p_blocks),
                pg_catalog.unnest(p_forms),
                pg_catalog.unnest(p_keys)
            ) as o (block, form, key)
        ) as f
        inner join kl_internal.parsed_headers(p_headers, p_blocks, p_escaped) as h
            on h.block = f.block
        left join pg_catalog.unnest(p_bodies) with ordinality as b (body, form)
            on b.form = f.form
        cross join lateral (
            -- Once, not in each check.
            select
                case when h.problem is null then b.body end as body,
                h.address || kl_internal.instance_key_text(
                    coalesce(kl_internal.staged_json(f.key, p_escaped), b.body -> 'index_key'),
                    p_escaped
                ) as address,
                h.header ->> 'provider' as provider
            offset 0
        ) as s
        cross join lateral kl_internal.object_columns(s.address, s.provider, s.body) as c
        where case
            when pg_catalog.jsonb_typeof(b.body) <> 'object' then
                kl_internal.refuse_object(h.address, 'instances', 'holds what is not an object')
                    is not null
            else true
        end
    ),
    objects as (
        select
            o.ordinal,
            o.block,
            o.form,
            o.digest,
            kl_internal.staged_json(o.key, p_escaped) as index_key,
            pg_catalog.convert_from(o.attributes, 'UTF8')::json as attributes,
            pg_catalog.convert_from(o.identity, 'UTF8')::json as identity
        from rows from (
            pg_catalog.unnest(p_ordinals),
            pg_catalog.unnest(p_blocks),
            pg_catalog.unnest(p_forms),
            pg_catalog.unnest(p_keys),
            pg_catalog.unnest(p_attributes),
            pg_catalog.unnest(p_identities),
            pg_catalog.unnest(p_digests)
        ) as o (ordinal, block, form, key, attributes, identity, digest)
        offset 0
    )
    select
        o.ordinal, a.path, a.address, f.config_address, f.module, f.mode, f.type, f.name,
        k.index_key, f.deposed, f.provider, f.instance_provider, f.resource_extra, f.status,
        f.schema_version, o.attributes, f.attributes_flat, f.sensitive_attributes, f.private,
        f.list_digest, f.create_before_destroy, o.identity, f.identity_schema_version, f.extra,
        o.digest,
        kl_internal.resource_hash(
            a.path, f.module, k.index_key::text, f.provider, f.instance_provider,
            f.resource_extra::text, f.status, f.schema_version::text, o.attributes::text,
            f.attributes_flat::text, f.sensitive_attributes::text, f.private, null,
            f.create_before_destroy::text, o.identity::text, f.identity_schema_version::text,
            f.extra::text, p_escaped::text
        ),
        coalesce(f.problem, kl_internal.key_problem(k.index_key, f.deposed_json))
    from objects as o
    inner join forms as f
        on f.block = o.block
        and coalesce(f.form, 0) = coalesce(o.form, 0)
    cross join lateral (
        select coalesce(o.index_key, f.index_key) as index_key
    ) as k
    cross join lateral (
        select
            case
                when o.form is not null then
                    f.path || kl_internal.instance_key_path(k.index_key, p_escaped)
                    || case when f.deposed <> '' then E'\x07' || f.deposed else '' end
            end as path,
            f.address || kl_internal.instance_key_text(k.index_key, p_escaped) as address
        offset 0
    ) as a;
$$;

comment on function kl_internal.parsed_objects(
    integer[], integer[], integer[], bytea[], jsonb[], bytea[], bytea[], bytea[], bytea[], boolean
) is
'Objects as they came, parsed, addressed and checked: columns of resources. Inlined.

p_blocks: which of p_headers each one has; p_forms: which of p_bodies. p_escaped: parse into the
escaped form (kl_internal.escape_json). A resource without instances has no path. content_hash: as
without dependencies. problem: why an object is refused for its key or its header. Raises: KL001;
what jsonb raises where the plain form does not fit.';
