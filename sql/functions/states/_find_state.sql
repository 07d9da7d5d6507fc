-- requires: auth/_caller_grant
create or replace function kl_internal.find_state(
    p_name  text,
    p_grant kl_internal.caller_grant default kl_internal.caller_grant()
)
returns kl_internal.states
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_place record;
    v_state kl_internal.states%rowtype;
begin
    -- Nearly every name is one in the default environment, of a state that is there. A combined
    -- name means its own environment, whatever a state of the default one is called.
    select s.*
    into v_state
    from kl_internal.states as s
    where s.environment_id = (
            select e.id
            from kl_internal.workspaces as w
            inner join kl_internal.environments as e on e.workspace_id = w.id
            where w.name = 'default'
                and e.name = 'default'
        )
        and s.name = p_name
        and not starts_with(p_name, 'ws_')
        and s.deleted_at is null;

    if found then
        perform kl_internal.authorize_place(v_state.environment_id, v_state.name, p_grant);
        return v_state;
    end if;

    v_place := kl_internal.resolve_name(p_name, p_grant);

    select s.*
    into v_state
    from kl_internal.states as s
    where s.environment_id = v_place.environment_id
        and s.name = v_place.state_name
        and s.deleted_at is null;
    return v_state;
end;
$$;

comment on function kl_internal.find_state(text, kl_internal.caller_grant) is
'The live state of that name, a placeholder included; null where there is none.

Raises: KL001, KL101, KL102, KL201 (no such environment).';
