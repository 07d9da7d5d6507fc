create or replace function kl_internal.listed_objects(p_rows kl_internal.resources[])
returns jsonb
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(
        jsonb_agg(
            jsonb_build_object('address', r.address, 'deposed_key', nullif(r.deposed, ''))
            order by r.path
        ),
        '[]'
    )
    from unnest(p_rows) as r;
$$;

comment on function kl_internal.listed_objects(kl_internal.resources[]) is
'Objects as an answer lists them: address and deposed key.';
