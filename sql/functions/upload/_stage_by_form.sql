-- requires: json/_needs_escape, upload/_stage_noted
create or replace function kl_internal.stage_by_form(
    p_upload_id  uuid,
    p_ordinals   integer[],
    p_blocks     integer[],
    p_forms      integer[],
    p_headers    bytea[],
    p_slices     bytea[],
    p_keys       bytea[],
    p_attributes bytea[],
    p_identities bytea[],
    p_digests    bytea[]
)
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    with objects as materialized (
        select
            o.*,
            coalesce(
                kl_internal.needs_escape(
                    concat_ws(
                        ',',
                        convert_from(p_headers[o.block], 'UTF8'),
                        convert_from(p_slices[o.form], 'UTF8'),
                        convert_from(o.key, 'UTF8'),
                        convert_from(o.attributes, 'UTF8'),
                        convert_from(o.identity, 'UTF8')
                    )
                ),
                false
            ) as escaped
        from unnest(p_ordinals, p_blocks, p_forms, p_keys, p_attributes, p_identities, p_digests)
            as o (ordinal, block, form, key, attributes, identity, digest)
    ),
    encodings as materialized (
        select
            o.escaped,
            array_agg(o.ordinal order by o.ordinal) as ordinals,
            array_agg(o.block order by o.ordinal) as blocks,
            array_agg(o.form order by o.ordinal) as forms,
            array_agg(o.key order by o.ordinal) as keys,
            array_agg(o.attributes order by o.ordinal) as attributes,
            array_agg(o.identity order by o.ordinal) as identities,
            array_agg(o.digest order by o.ordinal) as digests
        from objects as o
        group by o.escaped
    )
    select kl_internal.stage_noted(
        p_upload_id, e.ordinals, e.blocks, e.forms, p_headers, p_slices, e.keys, e.attributes,
        e.identities, e.digests, e.escaped
    )
    from encodings as e;
$$;

comment on function kl_internal.stage_by_form(
    uuid, integer[], integer[], integer[], bytea[], bytea[], bytea[], bytea[], bytea[], bytea[]
) is
'Parse objects of which some are refused or do not fit jsonb: each as plain or escaped as it fits.';
