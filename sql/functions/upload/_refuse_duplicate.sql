create or replace function kl_internal.refuse_duplicate(
    p_state_id   uuid,
    p_upload_id  uuid,
    p_version_no bigint
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_address text;
begin
    -- The same object twice: in what is new, against a row that stays, or byte for byte.
    select d.address
    into v_address
    from (
        select min(u.address) as address
        from kl_internal.upload_objects as u
        where u.upload_id = p_upload_id
            and u.path is not null
        group by u.path
        having count(*) > 1
        union all
        select u.address
        from kl_internal.upload_objects as u
        inner join kl_internal.resources as r
            on r.state_id = p_state_id
            and (r.closed_no is null or r.closed_no = p_version_no)
            and (r.opened_no < p_version_no or p_version_no = 1)  -- claimed, the second case
            and r.path = u.path
        inner join kl_internal.upload_keys(p_upload_id) as k
            on k.digest = r.slice_hash
            and k.ordinal <> u.ordinal
        where u.upload_id = p_upload_id
        union all
        select r.address
        from (
            select k.digest
            from kl_internal.upload_keys(p_upload_id) as k
            group by k.digest
            having count(*) > 1
        ) as k
        inner join kl_internal.resources as r
            on r.state_id = p_state_id
            and (r.closed_no is null or r.closed_no = p_version_no)
            and r.slice_hash = k.digest
    ) as d
    limit 1;

    if v_address is null then
        raise data_corrupted using
            message = 'the open rows of the state are not as many as its version counts';
    end if;

    raise exception using
        errcode = 'KL001',
        message = format(
            'object %s appears more than once in the document; nothing was stored', v_address
        ),
        detail = jsonb_build_object('address', v_address)::text;
end;
$$;

comment on function kl_internal.refuse_duplicate(uuid, uuid, bigint) is
'Refuse a document that holds one object twice, naming it; p_version_no: the version in the making.

Raises: KL001.';
