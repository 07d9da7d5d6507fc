create or replace function kl_internal.sensitive_patterns(p_block jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        select coalesce(jsonb_agg(distinct p.pattern), '[]')
        from (
            select jsonb_build_array(a.attribute ->> 'name') as pattern
            from jsonb_array_elements(p_block -> 'attributes') as a (attribute)
            where (a.attribute -> 'sensitive')::boolean
            union all
            select kl_internal.prefixed_pattern(
                a.attribute ->> 'name', a.attribute #>> '{nested_type,nesting}', n.pattern
            )
            from jsonb_array_elements(p_block -> 'attributes') as a (attribute)
            cross join lateral jsonb_array_elements(
                kl_internal.sensitive_patterns(a.attribute -> 'nested_type')
            ) as n (pattern)
            where a.attribute ? 'nested_type'
            union all
            select kl_internal.prefixed_pattern(
                b.block ->> 'type_name', b.block ->> 'nesting', n.pattern
            )
            from jsonb_array_elements(p_block -> 'block_types') as b (block)
            cross join lateral jsonb_array_elements(
                kl_internal.sensitive_patterns(b.block -> 'block')
            ) as n (pattern)
        ) as p
    );
end;
$$;

comment on function kl_internal.sensitive_patterns(jsonb) is
'Where a schema block calls values sensitive: paths of names, "*" for every element of a collection.

p_block: a block, or a nested attribute type, of the schema cache.';
