create or replace function kl_internal.escape_json(p_text text)
returns text
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_mark constant text := chr(64976);  -- U+FDD0, a noncharacter
    v_text text;
begin
    -- Every backslash pair becomes \u005c, so that each remaining backslash opens an escape.
    v_text := regexp_replace(p_text, '\\\\', '\\u005c', 'g');
    v_text := regexp_replace(v_text, v_mark || '|\\u[fF][dD][dD]0', v_mark || 'fdd0', 'g');
    v_text := replace(v_text, '\u0000', v_mark || '0000');
    v_text := regexp_replace(
        v_text,
        '\\u([dD][89abAB][0-9a-fA-F]{2})(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})',
        v_mark || '\1',
        'g'
    );
    v_text := regexp_replace(
        v_text,
        '(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})',
        v_mark || '\1',
        'g'
    );

    if v_text ~ '[0-9][eE][+-]?[0-9]{3}|[0-9.]{250}' then
        -- Numerals stand between strings; a string is copied whole.
        select string_agg(
            case
                when left(t.token[1], 1) = '"' then t.token[1]
                else regexp_replace(
                    t.token[1],
                    '(-?[0-9]+(?:\.[0-9]+)?[eE][+-]?[0-9]{3,}'
                        || '|-?(?:[0-9.]{250}){4,}[0-9.]*(?:[eE][+-]?[0-9]+)?)',
                    '"' || v_mark || 'n\1"',
                    'g'
                )
            end,
            ''
            order by t.token_no
        )
        into v_text
        from regexp_matches(v_text, '"(?:[^"\\]|\\.)*"|[^"]+', 'g')
            with ordinality as t (token, token_no);
    end if;

    return v_text;
end;
$$;

comment on function kl_internal.escape_json(text) is
'JSON text in a form that jsonb can hold: what it cannot hold becomes U+FDD0 and a code.

U+FDD0 and four hexadecimal digits stand for that UTF-16 unit: NUL, a lone surrogate, or U+FDD0
itself. A string of U+FDD0, "n" and a numeral stands for a numeral that jsonb refuses or that its
text form would blow up (an exponent of three digits or more, a thousand digits or more).
kl_internal.unescape_json is the inverse.';
