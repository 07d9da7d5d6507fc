create or replace function kl_internal.list_digest(p_dependencies jsonb)
returns uuid
language sql
immutable
parallel safe
as $$
    select pg_catalog.md5(p_dependencies::text)::uuid;
$$;

comment on function kl_internal.list_digest(jsonb) is
'What tells the dependencies lists of one upload apart. Inlined.';
