create or replace function kl_internal.mask_escapes(p_text text, p_mark text)
returns text
language sql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
    -- First the pairs of backslashes, so that each remaining backslash opens an escape.
    select regexp_replace(
        replace(p_text, '\\', p_mark || 'b'),
        '\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})',
        p_mark || '\1',
        'g'
    );
$$;

comment on function kl_internal.mask_escapes(text, text) is
'JSON text in which p_mark stands for the escapes that json functions refuse: NUL and surrogates.

p_mark is a text that is nowhere in it. kl_internal.unmask_escapes is the inverse.';
