-- requires: address/_parse_address, commit/_instances_below
create or replace function kl_internal.delta_instances(
    p_state_id   uuid,
    p_upload_id  uuid,
    p_write_set  text[],
    p_delete_set text[]
)
returns table (
    path         text,
    address      text,
    is_written   boolean,
    is_deleted   boolean,
    has_payload  boolean,
    is_group     boolean
)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    -- U+0007 begins a deposed object's key: before it stands the path of the instance.
    with payload as materialized (
        select distinct on (p.path)
            p.path,
            p.address
        from (
            select
                split_part(u.path, E'\x07', 1) collate "C" as path,
                u.address
            from kl_internal.upload_objects as u
            where u.upload_id = p_upload_id
                and u.path is not null
        ) as p
    ),
    named as materialized (
        select distinct
            a.path collate "C" as path,
            a.address,
            a.has_key,
            n.is_deleted
        from (
            select
                unnest(p_write_set) as address,
                false as is_deleted
            union all
            select unnest(p_delete_set), true
        ) as n
        cross join lateral kl_internal.parse_address(n.address) as a
    ),
    meant as (
        -- Nothing is below an address that is to be created or has gone.
        select
            n.*,
            not n.has_key and not b.has_bare as is_group
        from named as n
        cross join lateral (
            select coalesce(bool_or(i.path = n.path || E'\x02'), true) as has_bare
            from kl_internal.instances_below(
                p_state_id, case when not n.is_deleted then p_upload_id end, n.path
            ) as i
            where not n.has_key
        ) as b
    ),
    instances as (
        select
            m.path || case when m.has_key then '' else E'\x02' end as path,
            m.address,
            m.is_deleted,
            false as is_group
        from meant as m
        where not m.is_group
        union
        select
            i.path,
            i.address,
            m.is_deleted,
            m.is_deleted
        from meant as m
        cross join lateral kl_internal.instances_below(p_state_id, p_upload_id, m.path) as i
        where m.is_group
            and (
                m.is_deleted
                or not exists (
                    select
                    from named as d
                    where d.is_deleted
                        and d.path = i.path
                )
            )
    )
    select
        c.path,
        min(c.address),
        bool_or(not c.is_deleted),
        bool_or(c.is_deleted),
        bool_or(c.is_payload),
        bool_or(c.is_group)
    from (
        select i.path, i.address, i.is_deleted, false as is_payload, i.is_group
        from instances as i
        union all
        select p.path, p.address, null, true, false
        from payload as p
    ) as c
    group by c.path
    order by c.path;
$$;

comment on function kl_internal.delta_instances(uuid, uuid, text[], text[]) is
'Every instance that a delta names or brings: by its path, without deposed keys.

An address without key is the instance without key, if there is one in the state or in the delta;
else it means all instances of its resource, each of which is listed. is_group: such an address
stands in the delete set. Raises: KL001 (no address).';
