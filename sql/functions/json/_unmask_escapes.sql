create or replace function kl_internal.unmask_escapes(p_text text, p_mark text)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when p_mark is null then p_text
        else pg_catalog.replace(
            pg_catalog.replace(p_text, p_mark || 'b', '\\'), p_mark, '\u'
        )
    end;
$$;

comment on function kl_internal.unmask_escapes(text, text) is
'The JSON text that kl_internal.mask_escapes was given; without a mark the text as it is. Inlined.';
