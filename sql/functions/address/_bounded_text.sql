-- requires: address/_encode_step
create or replace function kl_internal.bounded_text(p_text text)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.octet_length(p_text) <= 200 and p_text !~ E'[\x01-\x08]' then p_text
        else kl_internal.encode_step(p_text)
    end;
$$;

comment on function kl_internal.bounded_text(text) is
'A name or key as it stands in a path: at most 270 bytes, no character below U+0009.

Distinct texts stay distinct. Inlined.';
