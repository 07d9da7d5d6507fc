create or replace function kl_internal.stage_delta_pieces(
    p_upload_id uuid,
    p_delta     kl_internal.delta
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_pointer text := case when p_delta.is_whole then '/delta/raw_state' else '/delta' end;
    v_pieces  record;
    v_nothing bytea[];
begin
    v_pieces := kl_internal.delta_pieces(p_delta.resources, p_delta.mark);
    if v_pieces.odd_pointer is not null then
        perform kl_internal.refuse_member(
            v_pointer || v_pieces.odd_pointer, 'is not what a resource has there'
        );
    end if;

    if v_pieces.blocks is null then
        return;
    end if;

    -- The keys stay in the slices.
    v_nothing := array_fill(null::bytea, array[cardinality(v_pieces.blocks)]);
    if p_delta.mark is not null then
        perform kl_internal.stage_by_form(
            p_upload_id, v_pieces.ordinals, v_pieces.blocks, v_pieces.forms, v_pieces.headers,
            v_pieces.slices, v_nothing, v_pieces.attributes, v_pieces.identities, v_nothing
        );
    else
        perform kl_internal.stage_noted(
            p_upload_id, v_pieces.ordinals, v_pieces.blocks, v_pieces.forms, v_pieces.headers,
            v_pieces.slices, v_nothing, v_pieces.attributes, v_pieces.identities, v_nothing, false
        );
        -- For the next pieces of an upload; a delta has none.
        delete from kl_internal.upload_resources as r
        where r.upload_id = p_upload_id;
    end if;

    perform kl_internal.refuse_problem(p_upload_id);
end;
$$;

comment on function kl_internal.stage_delta_pieces(uuid, kl_internal.delta) is
'Parse the resources of a delta piece by piece, as an upload is: what needs escapes, and what is not
as it should be, which it names.

Raises: KL001.';
