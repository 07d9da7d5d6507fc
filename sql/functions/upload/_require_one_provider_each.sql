create or replace function kl_internal.require_one_provider_each(
    p_state_id   uuid,
    p_upload_id  uuid,
    p_version_no bigint
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_address   text;
    v_providers text[];
begin
    -- Terraform would give every instance the provider of the last block, without a word.
    select
        c.config_address,
        array[min(c.provider collate "C"), max(c.provider collate "C")]
    into v_address, v_providers
    from (
        select distinct
            u.config_address,
            u.module,
            u.provider
        from kl_internal.upload_resources as u
        where u.upload_id = p_upload_id
        union
        -- Rows that stay, of resources that something changed in.
        select
            r.config_address,
            r.module,
            r.provider
        from kl_internal.resources as r
        where p_version_no > 1
            and r.state_id = p_state_id
            and r.closed_no is null
            and r.opened_no < p_version_no
            and (hashtextextended(r.config_address, 0), r.config_address) in (
                select
                    hashtextextended(u.config_address, 0),
                    u.config_address
                from kl_internal.upload_resources as u
                where u.upload_id = p_upload_id
            )
    ) as c
    group by c.config_address, c.module
    having min(c.provider collate "C") <> max(c.provider collate "C")
    limit 1;

    if found then
        raise exception using
            errcode = 'KL001',
            message = format(
                'resource %s has instances under %s; one resource has one provider: give all '
                    || 'its instances the same one; nothing was stored',
                v_address,
                array_to_string(v_providers, ' and ')
            ),
            detail = jsonb_build_object('address', v_address, 'providers', v_providers)::text;
    end if;
end;
$$;

comment on function kl_internal.require_one_provider_each(uuid, uuid, bigint) is
'Refuse a document whose blocks of one resource name two providers; p_version_no: in the making.

Raises: KL001.';
