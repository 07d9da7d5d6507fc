create or replace function kl_internal.compact_json(p_text text)
returns text
language sql
immutable
parallel safe
as $$
    -- White space between tokens is beside one of these, or at an end.
    select case
        when p_text ~ '[][{},:][ \t\n\r]|[ \t\n\r][][{},:]|^[ \t\n\r]|[ \t\n\r]$' then
            pg_catalog.regexp_replace(p_text, '("(?:[^"\\]|\\.)*")|[ \t\n\r]+', '\1', 'g')
        else p_text
    end;
$$;

comment on function kl_internal.compact_json(text) is
'JSON text without the white space between its tokens, otherwise byte by byte as it is.

Inlined.';
