create or replace function kl_internal.same_dependencies(p_one_id bigint, p_other_id bigint)
returns boolean
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(
        (
            select one.addresses @> other.addresses and other.addresses @> one.addresses
            from kl_internal.dependency_sets as one
            cross join kl_internal.dependency_sets as other
            where one.id = p_one_id
                and other.id = p_other_id
        ),
        false
    );
$$;

comment on function kl_internal.same_dependencies(bigint, bigint) is
'Whether two dependency sets of a state hold the same addresses in whatever order.';
