create or replace function kl_internal.lock_live_state(p_name text)
returns kl_internal.states
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state kl_internal.states%rowtype := kl_internal.lock_found_state(p_name);
begin
    if v_state.id is null then
        raise exception using
            errcode = 'KL201',
            message = format('there is no state %s', to_json(p_name)),
            detail = jsonb_build_object('state', p_name)::text;
    end if;

    return v_state;
end;
$$;

comment on function kl_internal.lock_live_state(text) is
'The live state of that name under its row lock, which it may have been deleted while waiting for.

Locks: state row. Raises: KL001, KL201.';
