create or replace function kl_internal.live_scopes(p_apply_id uuid, p_mode text)
returns kl_gist.scope_multirange
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := kl_internal.clock();
begin
    return (
        select coalesce(range_agg(r.scope), kl_gist.scope_multirange())
        from kl_internal.resource_reservations as r
        -- In this form for the index on apply_id alone: the constraint has an index with it too,
        -- all of which would be read.
        where r.apply_id = any (array[p_apply_id])
            and r.expires_at > v_now
            and (r.mode = 'write' or p_mode = 'read')
    );
end;
$$;

comment on function kl_internal.live_scopes(uuid, text) is
'What a run holds now, for writing, or for reading (which writing includes), as ranges of paths.

A path is covered when it is in them (@>).';
