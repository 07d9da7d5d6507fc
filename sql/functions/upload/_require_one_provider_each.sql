create or replace function kl_internal.require_one_provider_each(
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
    v_address   text;
    v_providers text[];
begin
    -- Terraform would give every instance the provider of the last block, without a word.
    select
        r.config_address,
        array[min(r.provider collate "C"), max(r.provider collate "C")]
    into v_address, v_providers
    from kl_internal.resources as r
    where r.state_id = p_state_id
        and r.closed_no is null
        and r.config_address in (
            select distinct u.config_address
            from kl_internal.upload_objects as u
            where u.upload_id = p_upload_id
                and not u.unchanged
        )
    group by r.config_address, r.module
    having min(r.provider collate "C") <> max(r.provider collate "C")
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

comment on function kl_internal.require_one_provider_each(uuid, uuid) is
'Refuse a document whose blocks of one resource name two providers.

Raises: KL001.';
