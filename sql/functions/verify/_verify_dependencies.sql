-- requires: address/_parse_dependency, upload/_dependency_digest
create or replace function kl_internal.verify_dependencies(p_state_id uuid)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    with checked as (
        select
            d.id,
            d.digest = kl_internal.dependency_digest(d.addresses) as is_whole,
            d.addresses,
            d.config_addresses
        from kl_internal.dependency_sets as d
        where d.state_id = p_state_id
    ),
    damaged as (
        select c.id
        from checked as c
        where case
            -- What is damaged need not parse.
            when c.is_whole then c.config_addresses is distinct from (
                select array_agg(p.config_address order by p.config_address)
                from (
                    select distinct kl_internal.parse_dependency(a.address) as config_address
                    from unnest(c.addresses) as a (address)
                ) as p
            )
            else true
        end
    )
    select jsonb_agg(
        jsonb_build_object(
            'kind', 'dependencies',
            'address', r.address,
            'deposed_key', r.deposed_key,
            'problem', 'its dependencies were changed',
            'from_version_no', r.opened_no,
            'to_version_no', r.last_no
        )
        order by d.id, r.path
    )
    from damaged as d
    left join lateral (
        select
            c.path,
            c.address,
            nullif(c.deposed, '') as deposed_key,
            c.opened_no,
            c.closed_no - 1 as last_no
        from kl_internal.resources as c
        where c.state_id = p_state_id
            and c.dependency_set_id = d.id
    ) as r on true;
$$;

comment on function kl_internal.verify_dependencies(uuid) is
'Recompute the digests of a state''s dependency lists; null or an array of findings, one for each
object that a damaged list belongs to.';
