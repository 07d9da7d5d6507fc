create or replace function kl_internal.read_delta(p_delta json)
returns kl_internal.delta
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_given    json := p_delta;
    v_document json;
    v_pointer  text := '/delta';
    v_delta    kl_internal.delta;
begin
    if kl_internal.needs_escape(p_delta::text) then
        v_delta.mark := '@' || gen_random_uuid() || '@';
        v_given := kl_internal.mask_escapes(p_delta::text, v_delta.mark)::json;
    end if;

    if json_typeof(v_given) is distinct from 'object' then
        perform kl_internal.refuse_member('/delta', 'must be an object');
    end if;

    -- The older form: a whole document, of which only what write_set names is meant.
    v_document := kl_internal.checked_member(v_given, 'raw_state', 'object', '/delta');
    v_delta.is_whole := v_document is not null;
    if v_delta.is_whole then
        v_pointer := '/delta/raw_state';
    else
        v_document := v_given;
    end if;

    v_delta.resources := kl_internal.checked_member(v_document, 'resources', 'array', v_pointer);
    v_delta.check_results := kl_internal.checked_member(
        v_document, 'check_results', 'array', v_pointer
    );
    v_delta.output_writes := kl_internal.checked_member(
        v_document,
        case when v_delta.is_whole then 'outputs' else 'output_writes' end,
        'object',
        v_pointer
    );
    v_delta.lineage := kl_internal.unmasked_text(
        kl_internal.checked_member(v_document, 'lineage', 'string', v_pointer), v_delta.mark
    );
    v_delta.terraform_version := kl_internal.unmasked_text(
        kl_internal.checked_member(v_document, 'terraform_version', 'string', v_pointer),
        v_delta.mark
    );
    v_delta.write_set := kl_internal.checked_list(
        v_given -> 'write_set', '/delta/write_set', v_delta.mark
    );
    v_delta.delete_set := kl_internal.checked_list(
        v_given -> 'delete_set', '/delta/delete_set', v_delta.mark
    );
    perform kl_internal.refuse_wildcards(v_delta.write_set, '/delta/write_set');
    perform kl_internal.refuse_wildcards(v_delta.delete_set, '/delta/delete_set');
    perform kl_internal.checked_list(
        v_given -> 'output_delete_set', '/delta/output_delete_set', v_delta.mark
    );
    v_delta.output_delete_set := array(
        select kl_internal.unmasked_text(e.element, v_delta.mark)
        from json_array_elements(
            kl_internal.checked_member(v_given, 'output_delete_set', 'array', '/delta')
        ) as e (element)
    );
    return v_delta;
end;
$$;

comment on function kl_internal.read_delta(json) is
'The members of a delta, each of the type it must have; the JSON pointer says which is not.

lineage, terraform_version and output_delete_set are in escaped form (kl_internal.escape_json). Its
resources and outputs are not looked into yet. Raises: KL001.';
