create or replace function kl_internal.require_payloads(
    p_state_id    uuid,
    p_upload_id   uuid,
    p_delta       kl_internal.delta,
    out written   text[],
    out paths     text[],
    out addresses text[]
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_found   record;
    v_problem text;
    v_culprit text[];
begin
    begin
        select
            coalesce(array_agg(i.path) filter (where i.is_written), '{}') as written,
            coalesce(array_agg(i.path) filter (where i.is_written or i.is_deleted), '{}') as paths,
            coalesce(array_agg(i.address) filter (where i.is_written or i.is_deleted), '{}')
                as addresses,
            array_agg(i.address) filter (where i.is_written and not i.has_payload) as missing,
            array_agg(i.address) filter (where i.is_written is not true and i.has_payload)
                as outside,
            array_agg(i.address) filter (where i.is_written and i.is_deleted) as both_ways,
            array_agg(i.address) filter (where i.is_group) as grouped
        into v_found
        from kl_internal.delta_instances(
            p_state_id, p_upload_id, p_delta.write_set, p_delta.delete_set
        ) as i;
    exception
        when sqlstate 'KL001' then
            perform kl_internal.refuse_address(
                p_delta.write_set, 'address', '/delta/write_set/%s'
            );
            perform kl_internal.refuse_address(
                p_delta.delete_set, 'address', '/delta/delete_set/%s'
            );
            raise;
    end;

    written := v_found.written;
    paths := v_found.paths;
    addresses := v_found.addresses;

    if p_delta.is_whole then
        -- A whole document brings everything; what it does not name is not trusted.
        delete from kl_internal.upload_objects as u
        where u.upload_id = p_upload_id
            and (u.path is null or split_part(u.path, E'\x07', 1) <> all (written));
        v_found.outside := null;
    end if;

    select p.problem, p.culprit
    into v_problem, v_culprit
    from (values
        (1, 'the write set and the delete set both name', v_found.both_ways),
        (2, 'the delete set names a resource whose instances have keys; name those that go, of',
            v_found.grouped),
        (3, 'the delta has no payload (absence is not deletion: use delete_set) for',
            v_found.missing),
        (4, 'the delta has a payload that its write set does not name for', v_found.outside)
    ) as p (place, problem, culprit)
    where p.culprit is not null
    order by p.place
    limit 1;

    if found then
        raise exception using
            errcode = 'KL001',
            message = format('%s %s; nothing was stored', v_problem, v_culprit[1]),
            detail = jsonb_build_object('addresses', v_culprit[:100])::text;
    end if;

    select array_agg(d.address)
    into v_culprit
    from (
        select u.address
        from kl_internal.upload_objects as u
        where u.upload_id = p_upload_id
            and u.path is not null
        group by u.path, u.address
        having count(*) > 1
    ) as d;

    if v_culprit is not null then
        raise exception using
            errcode = 'KL001',
            message = format('the delta has %s more than once; nothing was stored', v_culprit[1]),
            detail = jsonb_build_object('addresses', v_culprit[:100])::text;
    end if;
end;
$$;

comment on function kl_internal.require_payloads(uuid, uuid, kl_internal.delta) is
'The instances that a delta writes and deletes, each written one with its payload.

written: the paths of those. paths, addresses: of all of them.
Raises: KL001 (naming the addresses).';
