-- requires: json/_unescape_json
create or replace view kl_internal.resource_documents as
select
    t.state_id,
    t.opened_no,
    t.closed_no,
    t.path,
    case when t.escaped then kl_internal.unescape_json(t.header) else t.header end as header,
    concat(
        case when t.escaped then kl_internal.unescape_json(t.members) else t.members end,
        '"identity":' || t.identity::text || ',',
        '"attributes":' || t.attributes::text,
        case when t.escaped then kl_internal.unescape_json(t.flat) else t.flat end,
        '}'
    ) as instance,
    t.id
from (
    select
        r.id,
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
            '"schema_version":' || r.schema_version::text || ',',
            '"sensitive_attributes":' || r.sensitive_attributes::text || ',',
            '"identity_schema_version":' || r.identity_schema_version::text || ',',
            '"private":' || to_json(r.private)::text || ',',
            '"dependencies":' || to_json(d.addresses)::text || ',',
            '"create_before_destroy":' || r.create_before_destroy::text || ',',
            substr(r.extra::text, 2, char_length(r.extra::text) - 2) || ','
        ) as members,
        coalesce(r.identity_spelling, r.identity) as identity,
        case
            when r.attributes is not null or r.attributes_flat is null then
                coalesce(r.attributes_spelling, r.attributes, '{}')
        end as attributes,
        case when r.attributes is not null then ',' else '' end
            || '"attributes_flat":' || r.attributes_flat::text as flat
    from kl_internal.resources as r
    left join kl_internal.dependency_sets as d on d.id = r.dependency_set_id
) as t;

comment on view kl_internal.resource_documents is
'The JSON text of each resource object as a state document has it.

header is the resource object up to and with the bracket that opens its instances, instance the
object in it. Objects of one resource follow each other by path.';
