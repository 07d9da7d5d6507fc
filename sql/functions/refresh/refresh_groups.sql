create or replace function kl.refresh_groups(p_refresh_run_id uuid)
returns table (provider text, types text[], object_count bigint, config jsonb)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform kl_internal.require_refresh_run(p_refresh_run_id);

    return query
    select
        o.provider,
        array_agg(distinct o.type order by o.type),
        count(*),
        c.config
    from kl_internal.refresh_objects as o
    left join kl_internal.provider_configs as c
        on c.state_id = o.state_id
        and c.provider = o.provider
    where o.refresh_run_id = p_refresh_run_id
    group by o.provider, c.config
    order by o.provider collate "C";
end;
$$;

comment on function kl.refresh_groups(uuid) is
'The providers that a refresh needs: one row per full provider address, with its configuration.

types: the resource types it has objects of. config: null when none was configured.
Locks: none. Raises: KL101, KL102, KL201, KL204, KL306. Callers: CLI.';
