create or replace function kl_internal.unmatched_ordinals(p_state_id uuid, p_upload_id uuid)
returns integer[]
language sql
stable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off  -- the stage has no statistics: it is as large as the state
as $$
    select coalesce(array_agg(k.ordinal order by k.ordinal), '{}')
    from kl_internal.staged_keys as k
    where k.upload_id = p_upload_id
        and not exists (
            select
            from kl_internal.resources as r
            where r.state_id = p_state_id
                and r.closed_no is null
                and r.slice_hash = k.digest
        );
$$;

comment on function kl_internal.unmatched_ordinals(uuid, uuid) is
'The staged keys that no open row of the state has: these objects are new or changed.';
