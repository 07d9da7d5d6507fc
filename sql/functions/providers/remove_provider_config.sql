create or replace function kl.remove_provider_config(p_state text, p_provider text)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state kl_internal.states%rowtype;
begin
    v_state := kl_internal.require_state(p_state, 'state:write');

    delete from kl_internal.provider_configs as c
    where c.state_id = v_state.id
        and c.provider = p_provider;

    if not found then
        return false;
    end if;

    perform kl_internal.record_event(
        v_state.id, v_state.name, 'remove_provider_config',
        jsonb_build_object('provider', p_provider)
    );
    return true;
end;
$$;

comment on function kl.remove_provider_config(text, text) is
'Forget the configuration of one provider of a state; returns whether there was one.

Locks: none. Raises: KL001, KL101, KL102, KL201. Callers: CLI.';
