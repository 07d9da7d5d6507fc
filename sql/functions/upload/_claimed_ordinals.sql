create or replace function kl_internal.claimed_ordinals(p_upload_id uuid)
returns setof integer
language sql
stable
as $$
    select pg_catalog.unnest(b.ordinals)
    from kl_internal.upload_batches as b
    where b.upload_id = p_upload_id;
$$;

comment on function kl_internal.claimed_ordinals(uuid) is
'Which objects of an upload are where they will stay. Inlined.';
