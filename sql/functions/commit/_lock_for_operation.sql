create or replace function kl_internal.lock_for_operation(p_name text, p_apply boolean)
returns kl_internal.states
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state kl_internal.states%rowtype;
begin
    perform kl_internal.require_state(
        p_name, case when p_apply then 'state:write' else 'state:read' end
    );
    -- A preview holds writers back too: all it says is of one version.
    v_state := kl_internal.lock_found_state(p_name);
    if v_state.id is null then
        v_state := kl_internal.require_state(p_name, 'state:read');
    end if;

    perform kl_internal.refuse_opaque(kl_internal.resolve_version(v_state, 'current'));
    return v_state;
end;
$$;

comment on function kl_internal.lock_for_operation(text, boolean) is
'The state that an operation previews (p_apply false) or changes, under its row lock.

Locks: state row. Raises: KL001, KL002, KL101, KL102, KL201.';
