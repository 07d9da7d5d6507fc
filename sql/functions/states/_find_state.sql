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
