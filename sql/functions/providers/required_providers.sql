create or replace function kl.required_providers(p_state text)
returns table (provider text, types text[], object_count bigint, config jsonb)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_state kl_internal.states%rowtype;
begin
    v_state := kl_internal.require_state(p_state, 'state:write');

    return query
    select
        o.provider,
        array_agg(distinct o.type order by o.type),
        count(*),
        c.config
    from (
        select
            coalesce(r.instance_provider, r.provider) as provider,
            r.type
        from kl_internal.resources as r
        where r.state_id = v_state.id
            and r.mode = 'managed'
            and r.closed_no is null
    ) as o
    left join kl_internal.provider_configs as c
        on c.state_id = v_state.id
        and c.provider = o.provider
    group by o.provider, c.config
    order by o.provider collate "C";
end;
$$;

comment on function kl.required_providers(text) is
'The providers that a refresh of the state would need: full addresses, each with its configuration.

types: the resource types that the state has of it. config: null when none was configured.
Locks: none. Raises: KL001, KL101, KL102, KL201. Callers: CLI.';
