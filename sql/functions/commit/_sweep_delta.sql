create or replace function kl_internal.sweep_delta(p_upload_id uuid, p_delta kl_internal.delta)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Nearly every delta is in these two tables alone.
    if p_delta.mark is null and p_delta.output_writes is null then
        with objects as (
            delete from kl_internal.upload_objects as u where u.upload_id = p_upload_id
        )
        delete from kl_internal.upload_dependencies as u where u.upload_id = p_upload_id;
    else
        perform kl_internal.sweep_upload(p_upload_id);
    end if;
end;
$$;

comment on function kl_internal.sweep_delta(uuid, kl_internal.delta) is
'Take a delta out of the stage: all that kl_internal.stage_delta puts there.';
