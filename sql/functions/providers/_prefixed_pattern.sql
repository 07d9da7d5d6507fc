create or replace function kl_internal.prefixed_pattern(
    p_name    text,
    p_nesting text,
    p_pattern jsonb
)
returns jsonb
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_array(p_name)
        || case when p_nesting in ('SINGLE', 'GROUP') then '[]'::jsonb else '["*"]' end
        || p_pattern;
$$;

comment on function kl_internal.prefixed_pattern(text, text, jsonb) is
'A pattern inside a nested attribute or block, as a pattern of what holds it.';
