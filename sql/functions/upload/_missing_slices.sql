create or replace function kl_internal.missing_slices(p_upload_id uuid, p_ordinals integer[])
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off  -- the stage has no statistics: it is as large as the state
as $$
declare
    v_staged bigint;
begin
    select count(*)
    into v_staged
    from (
        select u.ordinal
        from kl_internal.upload_objects as u
        where u.upload_id = p_upload_id
        union all
        select s.ordinal
        from kl_internal.staged_slices as s
        where s.upload_id = p_upload_id
            and s.kind = 'opaque'
        union all
        select b.ordinal
        from kl_internal.claimed_ordinals(p_upload_id) as b (ordinal)
    ) as o
    where o.ordinal = any (p_ordinals);

    if v_staged = cardinality(p_ordinals) then
        return '{}';
    end if;

    return (
        select coalesce(range_agg(int4range(o.ordinal, o.ordinal, '[]'))::text, '{}')
        from unnest(p_ordinals) as o (ordinal)
        where not exists (
            select
            from kl_internal.upload_objects as u
            where u.upload_id = p_upload_id
                and u.ordinal = o.ordinal
        )
            and not exists (
                select
                from kl_internal.staged_slices as s
                where s.upload_id = p_upload_id
                    and s.kind = 'opaque'
                    and s.ordinal = o.ordinal
            )
            and not exists (
                select
                from kl_internal.claimed_ordinals(p_upload_id) as b (ordinal)
                where b.ordinal = o.ordinal
            )
    );
end;
$$;

comment on function kl_internal.missing_slices(uuid, integer[]) is
'Those of the ordinals whose object is not staged: an int4multirange as text.';
