create or replace function kl_internal.require_present(
    p_state     kl_internal.states,
    p_addresses text[],
    p_paths     text[]
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_missing jsonb;
begin
    select jsonb_agg(a.address order by a.path collate "C")
    into v_missing
    from unnest(p_addresses, p_paths) as a (address, path)
    where not exists (
        select
        from kl_internal.resources as r
        where r.state_id = p_state.id
            and r.closed_no is null
            and r.path >= a.path
            and r.path < a.path || E'\x08'
    );

    if v_missing is null then
        return;
    end if;

    raise exception using
        errcode = 'KL402',
        message = format(
            'state %s does not have %s (%s missing); an address without key is the instance '
                || 'without key',
            to_json(p_state.name),
            left(v_missing ->> 0, 400),
            jsonb_array_length(v_missing)
        ),
        detail = jsonb_build_object('state', p_state.name, 'missing', v_missing)::text;
end;
$$;

comment on function kl_internal.require_present(kl_internal.states, text[], text[]) is
'Check that a state has an object, current or deposed, at each path.

Raises: KL402.';
