create or replace function kl_internal.encode_step(p_text text)
returns text
language sql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
    -- U+0008 escapes U+0001 to U+0008; U+0008 and "#" end the kept head of a long text.
    select case
        when octet_length(p_text) > 200 then
            translate(left(p_text, 40), E'\x01\x02\x03\x04\x05\x06\x07\x08', '?')
            || E'\x08#' || encode(sha256(convert_to(p_text, 'UTF8')), 'hex')
        else regexp_replace(
            translate(
                regexp_replace(p_text, E'([\x01-\x08])', E'\x08\\1', 'g'),
                E'\x01\x02\x03\x04\x05\x06\x07',
                'ABCDEFG'
            ),
            E'\x08\x08',
            E'\x08H',
            'g'
        )
    end;
$$;

comment on function kl_internal.encode_step(text) is
'The path form of a text that is long or holds control characters (kl_internal.bounded_text).';
