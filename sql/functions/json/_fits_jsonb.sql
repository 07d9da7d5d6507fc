create or replace function kl_internal.fits_jsonb(p_text text)
returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    -- A numeral such as 1e400 fits, but its text form is longer than what it came as.
    return p_text is null
        or octet_length(p_text::jsonb::text) <= kl_internal.rendered_limit(octet_length(p_text));
exception
    when untranslatable_character or invalid_text_representation or numeric_value_out_of_range then
        return false;
end;
$$;

comment on function kl_internal.fits_jsonb(text) is
'Whether jsonb holds this JSON text as it is: without escapes and without blowing it up.';
