create or replace function kl_internal.escaped_jsonb(p_text text)
returns jsonb
language plpgsql
immutable
strict
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return kl_internal.escape_json(p_text)::jsonb;
exception
    when untranslatable_character or invalid_text_representation or numeric_value_out_of_range
        or program_limit_exceeded or statement_too_complex then
        raise exception using
            errcode = 'KL001',
            message = 'part of the document is not JSON that can be stored: ' || sqlerrm,
            detail = jsonb_build_object('sqlstate', sqlstate)::text;
end;
$$;

comment on function kl_internal.escaped_jsonb(text) is
'JSON text as jsonb in escaped form (kl_internal.escape_json).

Raises: KL001.
Definer: a view calls it as its reader.';
