create or replace function kl_internal.lock_two_states(
    p_name    text,
    p_to_name text,
    p_apply   boolean
)
returns kl_internal.states[]
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_scope text := case when p_apply then 'state:write' else 'state:read' end;
    v_from  kl_internal.states%rowtype;
    v_to    kl_internal.states%rowtype;
begin
    v_from := kl_internal.require_state(p_name, v_scope);
    v_to := kl_internal.require_state(p_to_name, v_scope);

    if v_from.id <= v_to.id then
        v_from := kl_internal.lock_for_operation(p_name, p_apply);
        v_to := kl_internal.lock_for_operation(p_to_name, p_apply);
    else
        v_to := kl_internal.lock_for_operation(p_to_name, p_apply);
        v_from := kl_internal.lock_for_operation(p_name, p_apply);
    end if;

    return array[v_from, v_to];
end;
$$;

comment on function kl_internal.lock_two_states(text, text, boolean) is
'Two states, or one twice, that an operation previews (p_apply false) or changes, row locks held.

Locks: state rows, in the order of their ids. Raises: KL001, KL002, KL101, KL102, KL201.';
