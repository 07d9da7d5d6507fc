-- requires: commit/_renamed_lists
create or replace function kl_internal.keep_renamed_lists(
    p_from_id uuid,
    p_to_id   uuid,
    p_set_ids bigint[],
    p_moves   kl_internal.row_move[]
)
returns table (old_id bigint, new_id bigint)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    insert into kl_internal.dependency_sets (state_id, digest, addresses, config_addresses)
    select distinct on (l.addresses)
        p_to_id,
        kl_internal.dependency_digest(l.addresses),
        l.addresses,
        array(
            select distinct kl_internal.parse_dependency(a.dependency) as config_address
            from unnest(l.addresses) as a (dependency)
            order by config_address
        )
    from kl_internal.renamed_lists(p_from_id, p_set_ids, p_moves) as l
    on conflict (state_id, digest) do nothing;

    return query
    select
        l.dependency_set_id,
        s.id
    from kl_internal.renamed_lists(p_from_id, p_set_ids, p_moves) as l
    inner join kl_internal.dependency_sets as s
        on s.state_id = p_to_id
        and s.digest = kl_internal.dependency_digest(l.addresses);
end;
$$;

comment on function kl_internal.keep_renamed_lists(
    uuid, uuid, bigint[], kl_internal.row_move[]
) is
'Keep the lists of kl_internal.renamed_lists in a state: which of the old ones became which.';
