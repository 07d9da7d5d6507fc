create or replace function kl_internal.objects_at(p_state_id uuid, p_addresses text[])
returns kl_internal.resources[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_missing text[];
    v_rows    kl_internal.resources[];
begin
    if cardinality(coalesce(p_addresses, '{}')) = 0 then
        perform kl_internal.refuse_member('/addresses', 'names nothing');
    end if;

    with named as materialized (
        select
            n.address,
            a.path
        from unnest(p_addresses) as n (address)
        cross join lateral kl_internal.parse_address(n.address) as a
    ),
    found_rows as materialized (
        select
            n.address,
            r.id,
            r as object
        from named as n
        left join kl_internal.resources as r
            on r.state_id = p_state_id
            and r.closed_no is null
            and r.path >= n.path collate "C"
            and r.path < n.path || E'\x08' collate "C"
    )
    select
        (
            select array_agg(f.address)
            from found_rows as f
            where f.id is null
        ),
        (
            select array_agg(o.object order by (o.object).path)
            from (
                select distinct on (f.id) f.object
                from found_rows as f
                where f.id is not null
                order by f.id
            ) as o
        )
    into v_missing, v_rows;

    if v_missing is not null then
        raise exception using
            errcode = 'KL203',
            message = format('the state has nothing at %s', v_missing[1]),
            detail = jsonb_build_object('addresses', v_missing)::text;
    end if;

    return v_rows;
exception
    when sqlstate 'KL001' then
        perform kl_internal.refuse_address(p_addresses, 'address', '/addresses/%s');
        raise;
end;
$$;

comment on function kl_internal.objects_at(uuid, text[]) is
'The open rows at some addresses, deposed objects along; without a key: of all its instances.

Raises: KL001 (with the JSON pointer, of a list /addresses), KL203 (naming the addresses).';
