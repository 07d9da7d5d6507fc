create or replace function kl_internal.code_point_text(p_code_point integer)
returns text
language sql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select case
        when p_code_point in (0, 64976) or p_code_point between 55296 and 57343 then
            chr(64976) || lpad(to_hex(p_code_point), 4, '0')
        when p_code_point between 1 and 1114111 then chr(p_code_point)
    end;
$$;

comment on function kl_internal.code_point_text(integer) is
'One code point in escaped form; null where there is none of that number.';
