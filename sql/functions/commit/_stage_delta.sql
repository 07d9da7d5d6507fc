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
    v_pointer text := case when p_delta.is_whole then '/delta/raw_state' else '/delta' end;
    v_pieces  record;
    v_nothing bytea[];
    v_bodies  jsonb[];
    v_staged  record;
begin
    if p_delta.output_writes is not null then
        perform kl_internal.stage_output_writes(p_upload_id, p_delta);
    end if;

    v_pieces := kl_internal.delta_pieces(p_delta.resources, p_delta.mark);
    if v_pieces.odd_pointer is not null then
        perform kl_internal.refuse_member(
            v_pointer || v_pieces.odd_pointer, 'is not what a resource has there'
        );
    end if;

    if v_pieces.blocks is null then
        return;
    end if;

    v_nothing := array_fill(null::bytea, array[cardinality(v_pieces.blocks)]);
    if p_delta.mark is not null then
        perform kl_internal.stage_by_form(
            p_upload_id, v_pieces.ordinals, v_pieces.blocks, v_pieces.forms, v_pieces.headers,
            v_pieces.slices, v_nothing, v_pieces.attributes, v_pieces.identities, v_nothing
        );
    else
        begin
            v_bodies := array(
                select kl_internal.staged_json(s.slice, false)
                from unnest(v_pieces.slices) with ordinality as s (slice, form)
                order by s.form
            );
            if not kl_internal.stage_known_lists(p_state_id, p_upload_id, v_bodies) then
                perform kl_internal.stage_dependencies(p_upload_id, v_bodies);
            end if;

            -- The keys stay in the slices. An address is spelled in one way, and is of no other
            -- path, where type and name have no marks. U+0007 begins a deposed object's key.
            select
                array_agg(i.path order by i.path) as paths,
                array_agg(i.address order by i.path) as addresses,
                count(*) = count(distinct i.path)
                    and bool_and(
                        i.type ~ '^\w[\w-]*$'
                        and i.type not in ('module', 'data', 'resource')
                        and i.name ~ '^\w[\w-]*$'
                        and strpos(i.path, E'\x07') = 0
                    ) as are_plain,
                bool_or(i.problem is not null) as has_problem
            into v_staged
            from kl_internal.insert_parsed(
                p_upload_id, v_pieces.ordinals, v_pieces.blocks, v_pieces.forms, v_pieces.headers,
                v_bodies, v_nothing, v_pieces.attributes, v_pieces.identities, v_nothing, false
            ) as i;

            if not v_staged.has_problem then
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
        exception
            when sqlstate 'KL001' or untranslatable_character or invalid_text_representation
                or character_not_in_repertoire or numeric_value_out_of_range
                or program_limit_exceeded or statement_too_complex then
                -- Once more, one by one, to say which is the first.
                perform kl_internal.stage_noted(
                    p_upload_id, v_pieces.ordinals, v_pieces.blocks, v_pieces.forms,
                    v_pieces.headers, v_pieces.slices, v_nothing, v_pieces.attributes,
                    v_pieces.identities, v_nothing, false
                );
        end;
    end if;

    perform kl_internal.refuse_problem(p_upload_id);
end;
$$;

comment on function kl_internal.stage_delta(uuid, uuid, kl_internal.delta) is
'Parse the resources and outputs of a delta into the stage, as if they were a document''s.

paths, addresses: of the instances, in path order, when the delta deletes nothing and its write set
names exactly what it brings, each by its address as it is spelled here: then there is nothing for
kl_internal.require_payloads to find. Null otherwise. Raises: KL001.';
