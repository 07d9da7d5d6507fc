create or replace function kl_internal.mask_escapes(p_text text, p_mark text)
returns text
language sql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
    -- First the pairs of backslashes, so that each remaining backslash opens an escape; then NUL,
    -- a high surrogate without a low one, a low one without a high one.
    select regexp_replace(
        regexp_replace(
            replace(replace(p_text, '\\', p_mark || 'b'), '\u0000', p_mark || '0000'),
            '\\u([dD][89abAB][0-9a-fA-F]{2})(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})',
            p_mark || '\1',
            'g'
        ),
        '(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})',
        p_mark || '\1',
        'g'
    );
$$;

comment on function kl_internal.mask_escapes(text, text) is
'JSON text in which p_mark stands for the escapes that json functions refuse.

Those are NUL and a surrogate without its other half. p_mark is a text that is nowhere in it.
kl_internal.unmask_escapes is the inverse.';
