create or replace function kl_internal.lease_end(p_lease interval)
returns timestamptz
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_lease is null or p_lease < interval '1 second' or p_lease > interval '1 day' then
        raise exception using
            errcode = 'KL001',
            message = 'a lease lasts 1 second to 1 day',
            detail = jsonb_build_object('pointer', '/lease_seconds')::text;
    end if;

    return kl_internal.clock() + p_lease;
end;
$$;

comment on function kl_internal.lease_end(interval) is
'When a lease that begins now ends.

Raises: KL001.';
