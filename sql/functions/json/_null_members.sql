create or replace function kl_internal.null_members(p_object jsonb, p_names text[])
returns jsonb
language sql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(jsonb_object_agg(m.name, m.value), '{}')
    from jsonb_each(p_object) as m (name, value)
    where m.name = any (p_names)
        and m.value = 'null';
$$;

comment on function kl_internal.null_members(jsonb, text[]) is
'Those of the named members that are null: kept as extra, since their column says absent.';
