create or replace function kl_internal.version_changes(
    p_state_id uuid,
    p_after_no bigint,
    p_last_no  bigint
)
returns table (version_no bigint, digest bigint, objects bigint, outputs bigint)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    with turns (version_no, digest, objects, outputs) as (
        select r.opened_no, bit_xor(r.content_hash), count(*), 0::bigint
        from kl_internal.resources as r
        where r.state_id = p_state_id
            and r.opened_no > p_after_no
            and r.opened_no <= p_last_no
        group by r.opened_no
        union all
        select r.closed_no, bit_xor(r.content_hash), -count(*), 0
        from kl_internal.resources as r
        where r.state_id = p_state_id
            and r.closed_no > p_after_no
            and r.closed_no <= p_last_no
        group by r.closed_no
        union all
        select o.opened_no, bit_xor(o.content_hash), 0, count(*)
        from kl_internal.outputs as o
        where o.state_id = p_state_id
            and o.opened_no > p_after_no
            and o.opened_no <= p_last_no
        group by o.opened_no
        union all
        select o.closed_no, bit_xor(o.content_hash), 0, -count(*)
        from kl_internal.outputs as o
        where o.state_id = p_state_id
            and o.closed_no > p_after_no
            and o.closed_no <= p_last_no
        group by o.closed_no
    )
    select
        n.version_no,
        coalesce(bit_xor(t.digest), 0) as digest,
        coalesce(sum(t.objects), 0)::bigint as objects,
        coalesce(sum(t.outputs), 0)::bigint as outputs
    from generate_series(p_after_no + 1, p_last_no)
        as n (version_no)
    left join turns as t on t.version_no = n.version_no
    group by n.version_no;
$$;

comment on function kl_internal.version_changes(uuid, bigint, bigint) is
'What the rows say that each version after p_after_no changed: the xor of the hashes of rows it
opened or closed, and by how much it changed the counts.';
