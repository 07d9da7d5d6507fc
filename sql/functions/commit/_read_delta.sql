create or replace function kl_internal.read_delta(p_delta json)
returns kl_internal.delta
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_json     json := p_delta;
    v_given    record;
    v_document record;
    v_odd      text[];
    v_delta    kl_internal.delta;
begin
    if kl_internal.needs_escape(p_delta::text) then
        v_delta.mark := '@' || gen_random_uuid() || '@';
        v_json := kl_internal.mask_escapes(p_delta::text, v_delta.mark)::json;
    end if;

    if json_typeof(v_json) is distinct from 'object' then
        perform kl_internal.refuse_member('/delta', 'must be an object');
    end if;

    -- In one pass: to look a member up is to read all of them. A null is an absent one.
    select m.*
    into v_given
    from json_to_record(v_json) as m (
        raw_state json, write_set json, delete_set json, output_delete_set json, resources json,
        check_results json, outputs json, output_writes json, lineage json, terraform_version json
    );
    v_document := v_given;

    -- The older form: a whole document, of which only what write_set names is meant.
    v_delta.is_whole := v_given.raw_state is not null;
    if v_delta.is_whole then
        if json_typeof(v_given.raw_state) <> 'object' then
            perform kl_internal.refuse_member('/delta/raw_state', 'must be of type object');
        end if;

        select m.*
        into v_document
        from json_to_record(v_given.raw_state) as m (
            resources json, check_results json, outputs json, lineage json, terraform_version json
        );
    end if;

    v_delta.resources := v_document.resources;
    v_delta.check_results := v_document.check_results;
    v_delta.output_writes := case
        when v_delta.is_whole then v_document.outputs
        else v_given.output_writes
    end;
    v_odd := case
        when json_typeof(v_delta.resources) <> 'array' then array['resources', 'array']
        when json_typeof(v_delta.check_results) <> 'array' then array['check_results', 'array']
        when json_typeof(v_delta.output_writes) <> 'object' then
            array[case when v_delta.is_whole then 'outputs' else 'output_writes' end, 'object']
        when json_typeof(v_document.lineage) <> 'string' then array['lineage', 'string']
        when json_typeof(v_document.terraform_version) <> 'string' then
            array['terraform_version', 'string']
    end;
    if v_odd is not null then
        perform kl_internal.refuse_member(
            case when v_delta.is_whole then '/delta/raw_state/' else '/delta/' end || v_odd[1],
            'must be of type ' || v_odd[2]
        );
    end if;

    v_delta.lineage := kl_internal.unmasked_text(v_document.lineage, v_delta.mark);
    if v_document.terraform_version is not null then
        v_delta.terraform_version := kl_internal.unmasked_text(
            v_document.terraform_version, v_delta.mark
        );
    end if;

    v_delta.write_set := kl_internal.checked_list(
        v_given.write_set, '/delta/write_set', v_delta.mark
    );
    v_delta.delete_set := kl_internal.checked_list(
        v_given.delete_set, '/delta/delete_set', v_delta.mark
    );
    if strpos(array_to_string(v_delta.write_set || v_delta.delete_set, ' '), '*') > 0 then
        perform kl_internal.refuse_wildcards(v_delta.write_set, '/delta/write_set');
        perform kl_internal.refuse_wildcards(v_delta.delete_set, '/delta/delete_set');
    end if;

    v_delta.output_delete_set := kl_internal.checked_list(
        v_given.output_delete_set, '/delta/output_delete_set', v_delta.mark
    );
    if v_delta.is_whole and v_given.write_set is null then
        perform kl_internal.refuse_member(
            '/delta/write_set', 'is missing: it says what of the document is meant'
        );
    end if;

    if v_delta.output_delete_set <> '{}' then
        v_delta.output_delete_set := array(
            select kl_internal.unmasked_text(e.element, v_delta.mark)
            from json_array_elements(v_given.output_delete_set) as e (element)
        );
        if not v_delta.is_whole and exists (
            select
            from json_object_keys(v_delta.output_writes) as k (name)
            where kl_internal.unmasked_text(to_json(k.name), v_delta.mark)
                = any (v_delta.output_delete_set)
        ) then
            perform kl_internal.refuse_member(
                '/delta/output_delete_set', 'names an output that output_writes has too'
            );
        end if;
    end if;

    return v_delta;
end;
$$;

comment on function kl_internal.read_delta(json) is
'The members of a delta, each of the type it must have; the JSON pointer says which is not.

lineage, terraform_version and output_delete_set are in escaped form (kl_internal.escape_json). Its
resources and outputs are not looked into yet. Raises: KL001.';
