create or replace function kl_internal.release_claims(p_upload_ids uuid[])
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_upload_ids uuid[];
    v_state_ids  uuid[];
begin
    -- Waits for rows on their way; the next statements see them. Who comes later finds no claim.
    with released as (
        delete from kl_internal.upload_claims as c
        where c.upload_id = any (p_upload_ids)
        returning c.upload_id, c.state_id
    )
    select
        array_agg(r.upload_id),
        array_agg(r.state_id)
    into v_upload_ids, v_state_ids
    from released as r;

    if v_upload_ids is null then
        return;
    end if;

    delete from kl_internal.resources as r where r.state_id = any (v_state_ids);
    delete from kl_internal.dependency_sets as s where s.state_id = any (v_state_ids);
    delete from kl_internal.upload_batches as b where b.upload_id = any (v_upload_ids);
    delete from kl_internal.upload_resources as u where u.upload_id = any (v_upload_ids);
end;
$$;

comment on function kl_internal.release_claims(uuid[]) is
'End the claims of uploads whose document did not become the first version, with all their rows.

Locks: the claims.';
