create or replace function kl.fetch_slice(
    p_name            text,
    p_addresses       text[],
    p_outputs         text[],
    p_base_serial     numeric,
    p_base_version_id uuid,
    p_format          text
)
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan  -- planning would take longer than the work
as $$
declare
    v_state     kl_internal.states%rowtype;
    v_version   kl_internal.state_versions%rowtype;
    v_addresses text[];
    v_paths     text[];
begin
    v_state := kl_internal.require_state(p_name, 'state:read');
    v_version := kl_internal.require_rows(v_state);
    if p_format not in ('native', 'terraform-state') then
        raise exception using
            errcode = 'KL001',
            message = format('there is no format %s: use native or terraform-state',
                to_json(left(p_format, 80))),
            detail = jsonb_build_object('pointer', '/format')::text;
    end if;

    select coalesce(array_agg(a.address), '{}'), coalesce(array_agg(a.path), '{}')
    into v_addresses, v_paths
    from kl_internal.slice_paths(p_addresses) as a;

    if p_base_serial is not null or p_base_version_id is not null then
        perform kl_internal.require_unchanged(
            kl_internal.base_version(v_state, p_base_serial, p_base_version_id),
            v_version,
            v_addresses,
            v_paths,
            p_outputs
        );
    end if;

    return kl_internal.slice_document(
        v_state, v_version, v_addresses, v_paths, p_outputs, p_format
    );
end;
$$;

comment on function kl.fetch_slice(text, text[], text[], numeric, uuid, text) is
'Instances at exact addresses with all that Terraform keeps of them, as JSON text, unmasked.

p_addresses: one without key is the instance without key; none at all is an empty slice. p_outputs:
names of outputs, "*" for all; those that are not there are left out. p_base_serial or
p_base_version_id: what the client knows; changes elsewhere do not matter. p_format: native (null
too), or terraform-state for a state document. One snapshot, of the current version.
Locks: none. Raises: KL001, KL002, KL101, KL102, KL201, KL202, KL302, KL402. Callers: server, CLI.';
