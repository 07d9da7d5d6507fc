-- requires: json/_unescape_json
create or replace function kl_internal.render_envelope(
    p_version kl_internal.state_versions,
    out head  text,
    out tail  text
)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    with outputs as (
        select
            coalesce(
                string_agg(
                    case
                        when o.escaped then kl_internal.unescape_json(o.member)
                        else o.member
                    end,
                    ','
                    order by o.name_key
                ),
                ''
            ) as members
        from (
            select
                u.name_key,
                u.escaped,
                concat(
                    to_json(u.name), ':{"value":', u.value,
                    ',"type":' || u.type::text,
                    ',"sensitive":' || u.sensitive::text,
                    ',' || substr(u.extra::text, 2, char_length(u.extra::text) - 2),
                    '}'
                ) as member
            from kl_internal.outputs as u
            where u.state_id = p_version.state_id
                and u.opened_no <= p_version.version_no
                and (u.closed_no is null or u.closed_no > p_version.version_no)
        ) as o
    ),
    members as (
        -- extra holds standard members that came as null; those came from extra, not from here.
        select
            not (
                m.member = any (p_version.omitted)
                or coalesce(p_version.extra ? m.member, false)
            ) as present,
            m.member
        from unnest(array['terraform_version', 'serial', 'lineage', 'outputs', 'resources',
            'check_results']) as m (member)
    ),
    texts as (
        select
            concat(
                '{"version":4',
                (select ',"terraform_version":' || to_json(p_version.terraform_version)::text
                    from members as m where m.member = 'terraform_version' and m.present),
                (select ',"serial":' || p_version.serial::text
                    from members as m where m.member = 'serial' and m.present),
                (select ',"lineage":' || to_json(p_version.lineage)::text
                    from members as m where m.member = 'lineage' and m.present)
            ) as head,
            concat(
                (select ',"check_results":' || p_version.check_results::text
                    from members as m where m.member = 'check_results' and m.present),
                ',' || substr(p_version.extra::text, 2, char_length(p_version.extra::text) - 2),
                '}'
            ) as tail
    )
    select
        concat(
            case when p_version.escaped then kl_internal.unescape_json(t.head) else t.head end,
            (select ',"outputs":{' || o.members || '}'
                from outputs as o, members as m where m.member = 'outputs' and m.present),
            (select ',"resources":['
                from members as m where m.member = 'resources' and m.present)
        ),
        concat(
            case when p_version.object_count > 0 then ']}' end,
            (select ']' from members as m where m.member = 'resources' and m.present),
            case when p_version.escaped then kl_internal.unescape_json(t.tail) else t.tail end,
            E'\n'
        )
    from texts as t;
$$;

comment on function kl_internal.render_envelope(kl_internal.state_versions) is
'The document of a version without its resource objects: what stands before and after them.';
