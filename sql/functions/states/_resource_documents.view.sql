create or replace view kl_internal.resource_documents as
select
    r.state_id,
    r.opened_no,
    r.closed_no,
    r.path,
    r.escaped,
    concat(
        '{',
        '"module":' || to_json(r.module)::text || ',',
        '"mode":"', r.mode,
        '","type":', to_json(r.type),
        ',"name":', to_json(r.name),
        ',"provider":' || to_json(r.provider)::text,
        ',' || substr(r.resource_extra::text, 2, char_length(r.resource_extra::text) - 2),
        ',"instances":['
    ) as header,
    concat(
        '{',
        '"index_key":' || r.index_key::text || ',',
        '"status":' || to_json(r.status)::text || ',',
        '"deposed":' || to_json(nullif(r.deposed, ''))::text || ',',
        '"provider":' || to_json(r.instance_provider)::text || ',',
        '"schema_version":' || r.schema_version::text || ','
    ) as before_attributes,
    case
        when r.attributes is null and r.attributes_flat is not null then
            concat('"attributes_flat":', r.attributes_flat)
        else concat(
            '"attributes":',
            coalesce(r.attributes::text, '{}'),
            ',"attributes_flat":' || r.attributes_flat::text
        )
    end as attributes,
    concat(
        ',"sensitive_attributes":' || r.sensitive_attributes::text,
        ',"identity_schema_version":' || r.identity_schema_version::text,
        ',"identity":' || r.identity::text,
        ',"private":' || to_json(r.private)::text,
        ',"dependencies":' || to_json(d.addresses)::text,
        ',"create_before_destroy":' || r.create_before_destroy::text,
        ',' || substr(r.extra::text, 2, char_length(r.extra::text) - 2),
        '}'
    ) as after_attributes
from kl_internal.resources as r
left join kl_internal.dependency_sets as d on d.id = r.dependency_set_id;

comment on view kl_internal.resource_documents is
'The JSON text of each resource object as a state document has it, in escaped form where escaped.

header is the resource object up to and with the bracket that opens its instances; the three other
texts make up the instance object. Objects of one resource follow each other by path.';
