create or replace function kl_internal.rendered_limit(p_bytes integer)
returns bigint
language sql
immutable
parallel safe
as $$
    select 2::bigint * p_bytes + 256;
$$;

comment on function kl_internal.rendered_limit(integer) is
'How many bytes the text of a jsonb value may have that came as p_bytes of JSON text.

White space after commas and colons at most doubles it; more means blown-up numerals. Inlined.';
