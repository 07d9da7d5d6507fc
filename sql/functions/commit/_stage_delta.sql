create or replace function kl_internal.stage_delta(
    p_state_id    uuid,
    p_upload_id   uuid,
    p_delta       kl_internal.delta,
    out paths     text[],
    out addresses text[]
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_members jsonb;
    v_staged  record;
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
            v_staged := kl_internal.insert_delta(p_upload_id, p_delta.resources, v_members);
            if not v_staged.has_problem then
                perform kl_internal.stage_delta_lists(p_state_id, p_upload_id, v_members);
                if v_staged.are_plain
                    and not p_delta.is_whole
                    and p_delta.delete_set = '{}'
                    and p_delta.write_set @> v_staged.addresses
                    and v_staged.addresses @> p_delta.write_set then
                    paths := v_staged.paths;
                    addresses := v_staged.addresses;
                end if;

                return;
            end if;

            raise sqlstate 'KL001';
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
'Parse the resources and outputs of a delta into the stage, as if they were a document''s.

paths, addresses: of the instances, in path order, when the delta deletes nothing and its write set
names exactly what it brings, each by its address as it is spelled here: then there is nothing for
kl_internal.require_payloads to find. Null otherwise. Raises: KL001.';
