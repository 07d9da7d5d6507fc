create or replace function kl_internal.stage_delta(
    p_state_id    uuid,
    p_upload_id   uuid,
    p_delta       kl_internal.delta,
    out paths     text[],
    out addresses text[],
    out objects   kl_internal.upload_objects[],
    out set_ids   bigint[]
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_members jsonb;
    v_parsed  record;
begin
    if p_delta.output_writes is not null then
        perform kl_internal.stage_output_writes(p_upload_id, p_delta);
    end if;

    if p_delta.resources is null or p_delta.resources::text = '[]' then
        return;
    end if;

    if p_delta.mark is null then
        begin
            v_members := p_delta.resources::jsonb;
            if kl_internal.are_ordinary(v_members) then
                v_parsed := kl_internal.delta_objects(
                    p_state_id, p_upload_id, p_delta.resources, v_members
                );
                if v_parsed.are_plain
                    and not p_delta.is_whole
                    and p_delta.delete_set = '{}'
                    and p_delta.write_set @> v_parsed.addresses
                    and v_parsed.addresses @> p_delta.write_set then
                    paths := v_parsed.paths;
                    addresses := v_parsed.addresses;
                    objects := v_parsed.objects;
                    set_ids := v_parsed.set_ids;
                else
                    perform kl_internal.stage_delta_objects(
                        p_state_id, p_upload_id, v_parsed.objects, v_members
                    );
                end if;

                return;
            end if;
        exception
            when sqlstate 'KL001' or untranslatable_character or invalid_text_representation
                or invalid_parameter_value or numeric_value_out_of_range
                or program_limit_exceeded or statement_too_complex then
                -- Once more, one by one, to say which is the first that cannot be stored.
                null;
        end;
    end if;

    perform kl_internal.stage_delta_pieces(p_upload_id, p_delta);
end;
$$;

comment on function kl_internal.stage_delta(uuid, uuid, kl_internal.delta) is
'Parse the resources and outputs of a delta; into the stage, as if they were a document''s.

But a plain delta stays in memory: one that deletes nothing, brings current objects with lists of
dependencies that the state knows, and names exactly those in its write set, each by its address as
it is spelled here. Then nothing is there for kl_internal.require_payloads to find.
paths, addresses, objects, set_ids: of a plain delta, in path order; null otherwise.
Raises: KL001.';
