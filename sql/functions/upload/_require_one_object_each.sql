create or replace function kl_internal.require_one_object_each(
    p_state_id  uuid,
    p_upload_id uuid
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off  -- the stage has no statistics: it is as large as the state
as $$
declare
    v_address text;
    v_problem text;
begin
    select
        u.address,
        u.problem
    into v_address, v_problem
    from kl_internal.upload_objects as u
    where u.upload_id = p_upload_id
        and u.problem is not null
    order by u.ordinal
    limit 1;

    if found then
        raise exception using
            errcode = 'KL001',
            message = format(
                'resource %s: %s; nothing was stored', coalesce(v_address, '?'), v_problem
            ),
            detail = jsonb_build_object('address', v_address)::text;
    end if;

    -- The same object twice: in what is new, against a row that stays, or byte for byte.
    select d.address
    into v_address
    from (
        select min(u.address) as address
        from kl_internal.upload_objects as u
        where u.upload_id = p_upload_id
        group by u.path
        having count(*) > 1
        union all
        select u.address
        from kl_internal.upload_objects as u
        inner join kl_internal.resources as r
            on r.state_id = p_state_id
            and r.closed_no is null
            and r.path = u.path
        inner join kl_internal.staged_keys as k
            on k.upload_id = p_upload_id
            and k.digest = r.slice_hash
        where u.upload_id = p_upload_id
        union all
        select r.address
        from (
            select k.digest
            from kl_internal.staged_keys as k
            where k.upload_id = p_upload_id
            group by k.digest
            having count(*) > 1
        ) as k
        inner join kl_internal.resources as r
            on r.state_id = p_state_id
            and r.closed_no is null
            and r.slice_hash = k.digest
    ) as d
    limit 1;

    if found then
        raise exception using
            errcode = 'KL001',
            message = format(
                'object %s appears more than once in the document; nothing was stored', v_address
            ),
            detail = jsonb_build_object('address', v_address)::text;
    end if;
end;
$$;

comment on function kl_internal.require_one_object_each(uuid, uuid) is
'Refuse a document with a resource that cannot be read, or with one object twice.

Raises: KL001.';
