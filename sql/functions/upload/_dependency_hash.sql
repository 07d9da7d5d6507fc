create or replace function kl_internal.dependency_hash(p_dependency_set_id text)
returns bigint
language sql
immutable
parallel safe
as $$
    select pg_catalog.hashtextextended(coalesce(p_dependency_set_id, ''), 0);
$$;

comment on function kl_internal.dependency_hash(text) is
'What the dependency set of an object adds (by xor) to kl_internal.resource_hash. Inlined.

An upload is hashed before it is known which set it gets.';
