create or replace function kl_internal.require_unreserved(
    p_state_id   uuid,
    p_apply_id   uuid,
    p_version_no bigint
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_foreign   kl_gist.scope_multirange;
    v_paths     text[];
    v_addresses text[];
begin
    select range_agg(r.scope)
    into v_foreign
    from kl_internal.resource_reservations as r
    where r.state_id = p_state_id
        and r.apply_id <> p_apply_id
        and r.expires_at > kl_internal.clock();

    if v_foreign is null then
        return;
    end if;

    select
        array_agg(c.path),
        array_agg(distinct c.address)
    into v_paths, v_addresses
    from (
        select r.path, r.address
        from kl_internal.resources as r
        where r.state_id = p_state_id
            and r.opened_no = p_version_no
        union
        select r.path, r.address
        from kl_internal.resources as r
        where r.state_id = p_state_id
            and r.closed_no = p_version_no
    ) as c
    where v_foreign @> c.path;

    if v_paths is not null then
        perform kl_internal.raise_reserved(p_state_id, p_apply_id, v_paths, v_addresses);
    end if;
end;
$$;

comment on function kl_internal.require_unreserved(uuid, uuid, bigint) is
'Check that a version in the making changes nothing that another run has reserved.

Raises: KL301.';
