create or replace function kl_internal.missing_slices(p_upload_id uuid, p_ordinals integer[])
returns text
language sql
stable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off  -- the stage has no statistics: it is as large as the state
as $$
    select coalesce(range_agg(int4range(o.ordinal, o.ordinal, '[]'))::text, '{}')
    from unnest(p_ordinals) as o (ordinal)
    where not exists (
        select
        from kl_internal.staged_slices as s
        where s.upload_id = p_upload_id
            and s.kind in ('resource', 'opaque')
            and s.ordinal = o.ordinal
    );
$$;

comment on function kl_internal.missing_slices(uuid, integer[]) is
'Those of the ordinals whose slice is not staged: an int4multirange as text.';
