-- requires: json/_compact_json, json/_unmask_escapes
create or replace function kl_internal.split_resources(p_resources json, p_mark text)
returns table (
    ordinal     integer,
    header      bytea,
    slice       bytea,
    attributes  bytea,
    identity    bytea
)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    -- The pieces are the client's text: nothing is decoded but the names of members.
    with objects as materialized (
        select
            b.block,
            b.resource,
            i.position,
            i.instance
        from json_array_elements(p_resources) with ordinality as b (resource, block)
        left join lateral json_array_elements(
            case when json_typeof(b.resource -> 'instances') = 'array' then
                b.resource -> 'instances'
            end
        ) with ordinality as i (instance, position) on true
    )
    select
        row_number() over (order by o.block, o.position)::integer,
        (
            select convert_to(
                kl_internal.unmask_escapes(
                    concat(
                        '{',
                        string_agg(to_json(m.name)::text || ':' || m.value::text, ','),
                        '}'
                    ),
                    p_mark
                ),
                'UTF8'
            )
            from json_each(o.resource) as m (name, value)
            where m.name <> 'instances'
        ),
        case
            when json_typeof(o.instance) <> 'object' then convert_to(o.instance::text, 'UTF8')
            when o.instance is not null then (
                select convert_to(
                    kl_internal.unmask_escapes(
                        concat(
                            '{',
                            string_agg(to_json(m.name)::text || ':' || m.value::text, ','),
                            '}'
                        ),
                        p_mark
                    ),
                    'UTF8'
                )
                from json_each(o.instance) as m (name, value)
                where m.name not in ('attributes', 'identity')
            )
        end,
        case when json_typeof(o.instance) = 'object' then convert_to(
            kl_internal.compact_json(
                kl_internal.unmask_escapes((o.instance -> 'attributes')::text, p_mark)
            ),
            'UTF8'
        ) end,
        case when json_typeof(o.instance) = 'object' then convert_to(
            kl_internal.compact_json(
                kl_internal.unmask_escapes((o.instance -> 'identity')::text, p_mark)
            ),
            'UTF8'
        ) end
    from objects as o;
$$;

comment on function kl_internal.split_resources(json, text) is
'The resources of a delta in the pieces that kl_internal.stage_noted takes, one row per object.

Every element must be an object. p_mark: as kl_internal.mask_escapes had it.';
