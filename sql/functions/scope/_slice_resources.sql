create or replace function kl_internal.slice_resources(
    p_state_id uuid,
    p_paths    text[],
    out texts  text,
    out total  bigint
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    select coalesce(string_agg(i.instance, ',' order by i.path collate "C"), ''), count(*)
    into texts, total
    from (
        select
            min(o.path collate "C") as path,
            concat(
                '{', min(o.head),
                ',' || string_agg(o.members, '') filter (where o.deposed = ''),
                ',"deposed_objects":[',
                string_agg(
                    concat('{"deposed_key":', to_json(o.deposed), ',', o.members, '}'),
                    ','
                    order by o.path collate "C"
                ) filter (where o.deposed <> ''),
                ']}'
            ) as instance
        from kl_internal.slice_objects(p_state_id, p_paths) as o
        group by o.instance
    ) as i;
end;
$$;

comment on function kl_internal.slice_resources(uuid, text[]) is
'The instances at some paths as JSON texts, separated by commas, in document order; and how many.';
