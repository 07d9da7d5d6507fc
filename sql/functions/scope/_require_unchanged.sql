create or replace function kl_internal.require_unchanged(
    p_base      kl_internal.state_versions,
    p_current   kl_internal.state_versions,
    p_addresses text[],
    p_paths     text[],
    p_outputs   text[]
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_addresses jsonb;
    v_outputs   jsonb;
begin
    if p_base.version_no = p_current.version_no then
        return;
    end if;

    select jsonb_agg(a.address order by a.path collate "C")
    into v_addresses
    from unnest(p_addresses, p_paths) as a (address, path)
    where exists (
        select
        from kl_internal.resources as r
        where r.state_id = p_base.state_id
            and r.closed_no is null
            and r.path >= a.path
            and r.path < a.path || E'\x08'
            and r.opened_no > p_base.version_no
    ) or exists (
        select
        from kl_internal.resources as r
        where r.state_id = p_base.state_id
            and r.closed_no > p_base.version_no
            and r.path >= a.path
            and r.path < a.path || E'\x08'
    );

    select jsonb_agg(distinct o.name)
    into v_outputs
    from kl_internal.outputs as o
    where o.state_id = p_base.state_id
        and (o.opened_no > p_base.version_no or o.closed_no > p_base.version_no)
        and (o.name = any (p_outputs) or '*' = any (p_outputs));

    if coalesce(v_addresses, v_outputs) is null then
        return;
    end if;

    raise exception using
        errcode = 'KL302',
        message = format(
            'the state has serial %s now, and what is asked for changed since serial %s: %s; '
                || 'expand the scope again',
            p_current.serial,
            p_base.serial,
            left(coalesce(v_addresses ->> 0, 'output ' || (v_outputs ->> 0)), 400)
        ),
        detail = jsonb_build_object(
            'current_serial', p_current.serial,
            'base_serial', p_base.serial,
            'current_version_id', p_current.id,
            'addresses', coalesce(v_addresses, '[]'),
            'outputs', coalesce(v_outputs, '[]')
        )::text;
end;
$$;

comment on function kl_internal.require_unchanged(
    kl_internal.state_versions, kl_internal.state_versions, text[], text[], text[]
) is
'Check that what a slice has is as it was at the base of the request; the rest may have changed.

Raises: KL302.';
