create or replace function kl_internal.require_rows(p_state kl_internal.states)
returns kl_internal.state_versions
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_version kl_internal.state_versions%rowtype;
begin
    v_version := kl_internal.resolve_version(p_state, 'current');
    if not v_version.opaque then
        return v_version;
    end if;

    raise exception using
        errcode = 'KL002',
        message = format(
            'state %s is encrypted by its client: it has no resources that a scope could name',
            to_json(p_state.name)
        ),
        detail = jsonb_build_object('state', p_state.name)::text;
end;
$$;

comment on function kl_internal.require_rows(kl_internal.states) is
'The current version of a state whose resources can be read one by one.

Raises: KL002 (its client encrypted it).';
