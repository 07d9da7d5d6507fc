-- requires: json/_compact_json, json/_unmask_escapes
create or replace function kl_internal.delta_pieces(
    p_resources     json,
    p_mark          text,
    out headers     bytea[],
    out ordinals    integer[],
    out blocks      integer[],
    out forms       integer[],
    out slices      bytea[],
    out attributes  bytea[],
    out identities  bytea[],
    out odd_pointer text
)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    -- The pieces are the client's text: nothing is decoded but the names of members, and each text
    -- is read once. Of two members with one name the last counts, as everywhere. The objects stand
    -- in all arrays as they are numbered, in the order in which they are found.
    with resources as materialized (
        select
            b.block,
            json_typeof(b.resource) = 'object' as is_object,
            m.header,
            m.instances[cardinality(m.instances)] as instances
        from json_array_elements(p_resources) with ordinality as b (resource, block)
        cross join lateral (
            select
                concat(
                    '{',
                    string_agg(to_json(e.name)::text || ':' || e.value::text, ',')
                        filter (where e.name <> 'instances'),
                    '}'
                ) as header,
                array_agg(e.value) filter (where e.name = 'instances') as instances
            from json_each(
                case when json_typeof(b.resource) = 'object' then b.resource end
            ) as e (name, value)
        ) as m
    ),
    pieces as (
        select
            r.block,
            row_number() over () as ordinal,
            case json_typeof(i.instance)
                when 'object' then m.slice
                else i.instance::text
            end as slice,
            m.attributes[cardinality(m.attributes)]::text as attributes,
            m.identities[cardinality(m.identities)]::text as identity
        from resources as r
        left join lateral json_array_elements(
            case when json_typeof(r.instances) = 'array' then r.instances end
        ) as i (instance) on true
        cross join lateral (
            select
                concat(
                    '{',
                    string_agg(to_json(e.name)::text || ':' || e.value::text, ',')
                        filter (where e.name not in ('attributes', 'identity')),
                    '}'
                ) as slice,
                array_agg(e.value) filter (where e.name = 'attributes') as attributes,
                array_agg(e.value) filter (where e.name = 'identity') as identities
            from json_each(
                case when json_typeof(i.instance) = 'object' then i.instance end
            ) as e (name, value)
        ) as m
    )
    select
        (
            select array_agg(
                convert_to(kl_internal.unmask_escapes(r.header, p_mark), 'UTF8') order by r.block
            )
            from resources as r
        ),
        array_agg(p.ordinal::integer),
        array_agg(p.block::integer),
        array_agg(case when p.slice is not null then p.ordinal::integer end),
        array_agg(convert_to(kl_internal.unmask_escapes(p.slice, p_mark), 'UTF8')),
        array_agg(
            convert_to(
                kl_internal.compact_json(kl_internal.unmask_escapes(p.attributes, p_mark)), 'UTF8'
            )
        ),
        array_agg(
            convert_to(
                kl_internal.compact_json(kl_internal.unmask_escapes(p.identity, p_mark)), 'UTF8'
            )
        ),
        (
            select format(
                '/resources/%s%s',
                r.block - 1,
                case when r.is_object then '/instances' end
            )
            from resources as r
            where not r.is_object
                or json_typeof(r.instances) not in ('array', 'null')
            order by r.block
            limit 1
        )
    from pieces as p;
$$;

comment on function kl_internal.delta_pieces(json, text) is
'The resources of a delta in the pieces that kl_internal.stage_noted takes.

headers: one per resource; the others one per object: blocks and forms say which header and slice it
has. odd_pointer: of the first resource that is no object, or whose instances are no list. p_mark:
as kl_internal.mask_escapes had it.';
