create or replace function kl.configure_provider(p_state text, p_provider text, p_config jsonb)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state   kl_internal.states%rowtype;
    v_problem text;
begin
    v_state := kl_internal.require_state(p_state, 'state:write');
    -- OpenTofu's instances of an alias: resources have none of them, but their instances do.
    v_problem := kl_internal.provider_problem(regexp_replace(
        p_provider, '("\]\.[^\s.\[\]"\\]+)\["(?:[^"\\]|\\.)*"\]$', '\1'
    ));

    if v_problem is not null or jsonb_typeof(p_config) is distinct from 'object' then
        raise exception using
            errcode = 'KL001',
            message = coalesce(
                v_problem,
                'a provider configuration must be an object'
            ),
            detail = jsonb_build_object('provider', p_provider)::text;
    end if;

    insert into kl_internal.provider_configs (state_id, provider, config, actor, updated_at)
    values (
        v_state.id, p_provider, p_config, kl_internal.current_actor(), kl_internal.clock()
    )
    on conflict (state_id, provider) do update
    set config = excluded.config,
        actor = excluded.actor,
        updated_at = excluded.updated_at;

    perform kl_internal.record_event(
        v_state.id, v_state.name, 'configure_provider', jsonb_build_object('provider', p_provider)
    );
end;
$$;

comment on function kl.configure_provider(text, text, jsonb) is
'Keep the configuration that a refresh of the state gives one provider.

p_provider: the full address as in the state, [module.NAME.]provider["HOST/NAMESPACE/TYPE"][.ALIAS];
an instance that OpenTofu keys: .ALIAS["KEY"].
p_config: an object; {"env": NAME} anywhere in it stands for an environment variable.
Locks: none. Raises: KL001, KL101, KL102, KL201. Callers: CLI.';
