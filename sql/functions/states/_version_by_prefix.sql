create or replace function kl_internal.version_by_prefix(
    p_state  kl_internal.states,
    p_prefix text
)
returns kl_internal.state_versions
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_found kl_internal.state_versions[];
begin
    if p_prefix !~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F-]{0,27})?$' then
        return null;
    end if;

    select array_agg(v order by v.version_no)
    into v_found
    from kl_internal.state_versions as v
    where v.state_id = p_state.id
        and starts_with(v.id::text, lower(p_prefix));

    if cardinality(v_found) > 1 then
        raise exception using
            errcode = 'KL001',
            message = format(
                'version id %s... is the beginning of %s versions of state %s; write more of it',
                p_prefix, cardinality(v_found), to_json(p_state.name)
            ),
            detail = jsonb_build_object(
                'state', p_state.name,
                'version', p_prefix,
                'version_ids', (select jsonb_agg(f.id) from unnest(v_found[:10]) as f)
            )::text;
    end if;

    return v_found[1];
end;
$$;

comment on function kl_internal.version_by_prefix(kl_internal.states, text) is
'The version whose id begins with that; null where there is none. At least the first eight digits.

Raises: KL001 (it is the beginning of several).';
