create or replace function kl_internal.path_prefixes(p_path text)
returns setof text
language sql
immutable
parallel safe
as $$
    -- What ends a step, a name or a key; "" is above all.
    select ''
    union all
    select pg_catalog.string_agg(t.part[1], '') over (order by t.position)
    from pg_catalog.regexp_matches(p_path, E'[^\x01\x02]*[\x01\x02]', 'g')
        with ordinality as t (part, position);
$$;

comment on function kl_internal.path_prefixes(text) is
'Every path that may contain a path, and the path itself. Inlined.';
