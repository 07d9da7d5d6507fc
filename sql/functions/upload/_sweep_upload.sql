-- requires: upload/_release_claims
create or replace function kl_internal.sweep_upload(p_upload_id uuid)
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    select kl_internal.release_claims(array[p_upload_id]);
    delete from kl_internal.upload_batches as b where b.upload_id = p_upload_id;
    delete from kl_internal.upload_resources as r where r.upload_id = p_upload_id;
    delete from kl_internal.upload_objects as u where u.upload_id = p_upload_id;
    delete from kl_internal.upload_dependencies as u where u.upload_id = p_upload_id;
    delete from kl_internal.upload_comparisons as u where u.upload_id = p_upload_id;
    delete from kl_internal.staged_slices as s where s.upload_id = p_upload_id;
    delete from kl_internal.staged_keys as k where k.upload_id = p_upload_id;
$$;

comment on function kl_internal.sweep_upload(uuid) is
'Empty the stage of one upload; rows of a claim that no commit ended go with it.';
