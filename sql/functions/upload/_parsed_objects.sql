-- requires: address/_instance_key_path, address/_instance_key_text, json/_staged_json
-- requires: upload/_key_problem, upload/_list_digest, upload/_parsed_headers
-- requires: upload/_refuse_object
create or replace function kl_internal.parsed_objects(
    p_ordinals   integer[],
    p_blocks     integer[],
    p_headers    bytea[],
    p_slices     bytea[],
    p_attributes bytea[],
    p_identities bytea[],
    p_digests    bytea[],
    p_escaped    boolean
)
returns table (
    ordinal            integer,
    slice_hash         bytea,
    attributes         json,
    identity           json,
    path               text,
    address            text,
    config_address     text,
    header             jsonb,
    resource_extra     jsonb,
    index_key          jsonb,
    deposed            text,
    body               jsonb,
    list_digest        uuid,
    problem            text
)
language sql
stable
as $$
    select
        o.ordinal,
        o.digest,
        pg_catalog.convert_from(o.attributes, 'UTF8')::json,
        pg_catalog.convert_from(o.identity, 'UTF8')::json,
        case
            when o.slice is not null then
                h.path || kl_internal.instance_key_path(k.index_key, p_escaped)
                || case when k.deposed <> '' then E'\x07' || k.deposed else '' end
        end,
        h.address || kl_internal.instance_key_text(k.index_key, p_escaped),
        h.config_address,
        h.header,
        h.resource_extra,
        k.index_key,
        k.deposed,
        b.body,
        case
            when b.body -> 'dependencies' not in ('null', '[]') then
                kl_internal.list_digest(b.body -> 'dependencies')
        end,
        coalesce(h.problem, kl_internal.key_problem(k.index_key, b.body -> 'deposed'))
    from rows from (
        pg_catalog.unnest(p_ordinals),
        pg_catalog.unnest(p_blocks),
        pg_catalog.unnest(p_slices),
        pg_catalog.unnest(p_attributes),
        pg_catalog.unnest(p_identities),
        pg_catalog.unnest(p_digests)
    ) as o (ordinal, block, slice, attributes, identity, digest)
    inner join kl_internal.parsed_headers(p_headers, p_blocks, p_escaped) as h
        on h.block = o.block
    cross join lateral (
        select kl_internal.staged_json(o.slice, p_escaped) as body
        offset 0
    ) as b
    cross join lateral (
        select
            nullif(b.body -> 'index_key', 'null') as index_key,
            coalesce(b.body ->> 'deposed', '') as deposed
        offset 0
    ) as k
    where case
        when pg_catalog.jsonb_typeof(b.body) <> 'object' then
            kl_internal.refuse_object(h.address, 'instances', 'holds what is not an object')
                is not null
        else true
    end;
$$;

comment on function kl_internal.parsed_objects(
    integer[], integer[], bytea[], bytea[], bytea[], bytea[], bytea[], boolean
) is
'Objects as they came, parsed and addressed; p_blocks: which of p_headers each one has. Inlined.

p_escaped: parse into the escaped form (kl_internal.escape_json). A resource without instances has
no path. Raises: KL001; what jsonb raises where the plain form does not
fit.';
