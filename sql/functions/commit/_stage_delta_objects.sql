-- requires: commit/_stage_delta_lists
create or replace function kl_internal.stage_delta_objects(
    p_state_id  uuid,
    p_upload_id uuid,
    p_objects   kl_internal.upload_objects[],
    p_members   jsonb
)
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    insert into kl_internal.upload_objects
    select o.*
    from unnest(p_objects) as o;

    select kl_internal.stage_delta_lists(p_state_id, p_upload_id, p_members);
$$;

comment on function kl_internal.stage_delta_objects(
    uuid, uuid, kl_internal.upload_objects[], jsonb
) is
'Put what kl_internal.delta_objects parsed into the stage, and the lists of its dependencies.

p_members: the resources of the delta. Raises: KL001.';
