create or replace function kl_internal.object_hash(p_parts text[])
returns bigint
language sql
immutable
parallel safe
as $$
    select pg_catalog.hash_array_extended(p_parts, 0);
$$;

comment on function kl_internal.object_hash(text[]) is
'The hash that kl verify recomputes, over the columns of a row as texts. Inlined.

It finds accidents, not attackers.';
