create or replace function kl_internal.require_sibling_providers(
    p_state_id   uuid,
    p_version_no bigint,
    p_paths      text[]
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_address   text;
    v_providers text[];
begin
    -- Terraform would give every instance the provider of the last block, without a word. What
    -- was there before had one, so one row of it is enough.
    select
        o.address,
        array[o.least_provider, coalesce(nullif(o.most_provider, o.least_provider), s.provider)]
    into v_address, v_providers
    from (
        select
            p.resource_path,
            min(r.address) as address,
            min(r.provider collate "C") as least_provider,
            max(r.provider collate "C") as most_provider
        from (
            select
                i.path,
                (regexp_match(i.path, E'^(.*\x05[^\x01]*\x01[^\x01]*\x01)'))[1] as resource_path
            from unnest(p_paths) as i (path)
        ) as p
        cross join lateral (
            select
                w.address,
                w.provider
            from kl_internal.resources as w
            where w.state_id = p_state_id
                and w.closed_no is null
                and w.path >= p.path collate "C"
                and w.path < p.path || E'\x08' collate "C"
                and w.opened_no = p_version_no
            offset 0
        ) as r
        group by p.resource_path
    ) as o
    left join lateral (
        select r.provider
        from kl_internal.resources as r
        where r.state_id = p_state_id
            and r.closed_no is null
            and r.path >= o.resource_path collate "C"
            and r.path < o.resource_path || E'\x08' collate "C"
            and r.opened_no < p_version_no
        order by r.path
        limit 1
    ) as s on true
    where o.least_provider <> o.most_provider
        or o.least_provider <> s.provider
    limit 1;

    if found then
        raise exception using
            errcode = 'KL001',
            message = format(
                'the resource of %s has instances under %s; one resource has one provider: give '
                    || 'all its instances the same one; nothing was stored',
                v_address,
                array_to_string(v_providers, ' and ')
            ),
            detail = jsonb_build_object('address', v_address, 'providers', v_providers)::text;
    end if;
end;
$$;

comment on function kl_internal.require_sibling_providers(uuid, bigint, text[]) is
'Refuse a version in the making that gives instances of one resource different providers.

p_paths: the instances it wrote. Raises: KL001.';
