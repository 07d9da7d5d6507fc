create or replace function kl_internal.escaped_text(p_text text, p_escaped boolean)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when p_escaped then p_text
        else pg_catalog.replace(
            p_text,
            pg_catalog.chr(64976),
            pg_catalog.chr(64976) || 'fdd0'
        )
    end;
$$;

comment on function kl_internal.escaped_text(text, boolean) is
'A text in escaped form (kl_internal.escape_json), whichever form it is in. Inlined.';
