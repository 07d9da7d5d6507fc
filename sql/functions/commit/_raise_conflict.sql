create or replace function kl_internal.raise_conflict(
    p_base      kl_internal.state_versions,
    p_state     kl_internal.states,
    p_addresses text[]
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_current kl_internal.state_versions%rowtype;
begin
    v_current := kl_internal.resolve_version(p_state, 'current');
    raise exception using
        errcode = 'KL302',
        message = format(
            'the state has serial %s now, and what was written since serial %s concerns this '
                || 'commit (%s); read it again; nothing was stored',
            v_current.serial,
            p_base.serial,
            coalesce(p_addresses[1], 'it is a whole document')
        ),
        detail = jsonb_build_object(
            'current_serial', v_current.serial,
            'base_serial', p_base.serial,
            'current_version_id', v_current.id,
            'addresses', coalesce(p_addresses[:100], '{}')
        )::text;
end;
$$;

comment on function kl_internal.raise_conflict(
    kl_internal.state_versions, kl_internal.states, text[]
) is
'Refuse a commit whose base is not current, with the addresses that stand against it. Never returns.

Raises: KL302.';
