create or replace function kl_internal.keep_lists(
    p_state_id      uuid,
    p_bodies        jsonb[],
    out list_digests uuid[],
    out set_ids      bigint[]
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_digests bytea[];
begin
    -- In one order everywhere: two calls at once wait for each other, never in a circle.
    with lists as materialized (
        select l.*
        from kl_internal.parsed_lists(p_bodies) as l
    ),
    kept as (
        insert into kl_internal.dependency_sets (state_id, digest, addresses, config_addresses)
        select distinct on (l.digest)
            p_state_id,
            l.digest,
            l.addresses,
            l.config_addresses
        from lists as l
        where not exists (
            select
            from kl_internal.dependency_sets as s
            where s.state_id = p_state_id
                and s.digest = l.digest
        )
        order by l.digest
        on conflict (state_id, digest) do nothing
    )
    select
        array_agg(l.list_digest order by l.digest, l.list_digest),
        array_agg(l.digest order by l.digest, l.list_digest)
    into list_digests, v_digests
    from lists as l;

    -- A statement of its own, to see what the other call kept.
    select array_agg(s.id order by d.position)
    into set_ids
    from unnest(v_digests) with ordinality as d (digest, position)
    inner join kl_internal.dependency_sets as s
        on s.state_id = p_state_id
        and s.digest = d.digest;
end;
$$;

comment on function kl_internal.keep_lists(uuid, jsonb[]) is
'Keep the dependencies lists of instance objects, each once per state; gives their sets in place.

Raises: KL001 (an entry that is no resource address).';
