create or replace function kl_internal.object_hash(p_parts text[])
returns bigint
language sql
immutable
parallel safe
as $$
    select pg_catalog.hashtextextended(
        pg_catalog.array_to_string(p_parts, E'\x1f', E'\x02'), 0
    );
$$;

comment on function kl_internal.object_hash(text[]) is
'The hash that kl verify recomputes, over the columns of a row as texts. Inlined.

It finds accidents, not attackers.';
