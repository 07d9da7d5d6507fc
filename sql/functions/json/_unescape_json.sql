create or replace function kl_internal.unescape_json(p_text text)
returns text
language sql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select regexp_replace(
        regexp_replace(p_text, '"' || chr(64976) || 'n([-+0-9.eE]+)"', '\1', 'g'),
        chr(64976) || '([0-9a-fA-F]{4})',
        '\\u\1',
        'g'
    );
$$;

comment on function kl_internal.unescape_json(text) is
'The JSON text that kl_internal.escape_json was given, from the text of the escaped jsonb.';
