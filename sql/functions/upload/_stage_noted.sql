create or replace function kl_internal.stage_noted(
    p_upload_id  uuid,
    p_ordinals   integer[],
    p_blocks     integer[],
    p_forms      integer[],
    p_headers    bytea[],
    p_slices     bytea[],
    p_keys       bytea[],
    p_attributes bytea[],
    p_identities bytea[],
    p_digests    bytea[],
    p_escaped    boolean
)
returns boolean
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_half    integer := cardinality(p_ordinals) / 2;
    v_bodies  jsonb[];
    v_message text;
    v_detail  text;
    v_address text;
begin
    v_bodies := kl_internal.parsed_bodies(p_slices, p_forms, p_escaped);
    perform kl_internal.stage_dependencies(p_upload_id, v_bodies);
    perform kl_internal.stage_parsed(
        p_upload_id, p_ordinals, p_blocks, p_forms, p_headers, v_bodies, p_keys, p_attributes,
        p_identities, p_digests, p_escaped
    );
    return true;
exception
    when sqlstate 'KL001' or untranslatable_character or invalid_text_representation
        or character_not_in_repertoire or numeric_value_out_of_range or program_limit_exceeded
        or statement_too_complex then
        get stacked diagnostics
            v_message = message_text,
            v_detail = pg_exception_detail;
        if sqlstate <> 'KL001' then
            v_message := format('it cannot be stored (%s)', v_message);
            v_detail := jsonb_build_object('sqlstate', sqlstate)::text;
        end if;

        if v_half = 0 then
            if not v_detail::jsonb ? 'address' then
                v_address := kl_internal.staged_address(p_headers[p_blocks[1]], p_keys[1]);
                v_message := format('resource %s: %s; nothing was stored', v_address, v_message);
                v_detail := v_detail::jsonb || jsonb_build_object('address', v_address);
            end if;

            insert into kl_internal.upload_objects (
                upload_id, ordinal, escaped, problem, problem_detail
            )
            values (p_upload_id, p_ordinals[1], p_escaped, v_message, v_detail::jsonb);
            return false;
        end if;

        -- The first one that is refused is enough; what comes after it will not be stored.
        if not kl_internal.stage_noted(
            p_upload_id, p_ordinals[:v_half], p_blocks[:v_half], p_forms[:v_half], p_headers,
            p_slices, p_keys[:v_half], p_attributes[:v_half], p_identities[:v_half],
            p_digests[:v_half], p_escaped
        ) then
            insert into kl_internal.upload_objects (upload_id, ordinal, escaped)
            select
                p_upload_id,
                o.ordinal,
                p_escaped
            from unnest(p_ordinals[v_half + 1:]) as o (ordinal);
            return false;
        end if;

        return kl_internal.stage_noted(
            p_upload_id, p_ordinals[v_half + 1:], p_blocks[v_half + 1:], p_forms[v_half + 1:],
            p_headers, p_slices, p_keys[v_half + 1:], p_attributes[v_half + 1:],
            p_identities[v_half + 1:], p_digests[v_half + 1:], p_escaped
        );
end;
$$;

comment on function kl_internal.stage_noted(
    uuid, integer[], integer[], integer[], bytea[], bytea[], bytea[], bytea[], bytea[], bytea[],
    boolean
) is
'Parse objects of one form; keep why the first bad one is refused, as its problem.

False: there is one.';
