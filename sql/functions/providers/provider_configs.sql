create or replace function kl.provider_configs(p_state text)
returns table (provider text, config jsonb, actor text, updated_at timestamptz)
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
    select c.provider, c.config, c.actor, c.updated_at
    from kl_internal.provider_configs as c
    where c.state_id = v_state.id
    order by c.provider collate "C";
end;
$$;

comment on function kl.provider_configs(text) is
'The provider configurations of a state. They may hold literal values: for who may write the state.

Locks: none. Raises: KL001, KL101, KL102, KL201. Callers: CLI.';
