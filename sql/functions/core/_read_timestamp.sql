create or replace function kl_internal.read_timestamp(p_text text)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return case when p_text ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}' then p_text::timestamptz end;
exception
    when invalid_datetime_format or datetime_field_overflow or invalid_parameter_value then
        return null;
end;
$$;

comment on function kl_internal.read_timestamp(text) is
'An ISO 8601 timestamp; null when the text is none.';
