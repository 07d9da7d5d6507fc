-- requires: json/_unescape_json
create or replace function kl_internal.slice_outputs(
    p_state_id  uuid,
    p_names     text[],
    out native  text,
    out members text
)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    select
        coalesce(
            string_agg(
                concat(
                    '{"name":', o.name, ',', o.content,
                    ',"resource_version":', o.opened_no, '}'
                ),
                ','
                order by o.name_key
            ),
            ''
        ),
        coalesce(
            string_agg(concat(o.name, ':{', o.content, '}'), ',' order by o.name_key), ''
        )
    from (
        select
            u.name_key,
            u.opened_no,
            case
                when u.escaped then kl_internal.unescape_json(to_json(u.name)::text)
                else to_json(u.name)::text
            end as name,
            case when u.escaped then kl_internal.unescape_json(c.content) else c.content end
                as content
        from kl_internal.outputs as u
        cross join lateral (
            select concat(
                '"value":', u.value,
                ',"type":' || u.type::text,
                ',"sensitive":' || u.sensitive::text,
                ',' || substr(u.extra::text, 2, char_length(u.extra::text) - 2)
            ) as content
        ) as c
        where u.state_id = p_state_id
            and u.closed_no is null
            and (u.name = any (p_names) or '*' = any (p_names))
    ) as o;
$$;

comment on function kl_internal.slice_outputs(uuid, text[]) is
'The outputs with some names, "*" for all, as the members of a list and as those of a document.';
