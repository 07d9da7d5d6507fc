create or replace function kl_internal.lock_known_state(p_state_id uuid, p_name text)
returns kl_internal.states
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state kl_internal.states%rowtype;
begin
    select s.*
    into v_state
    from kl_internal.states as s
    where s.id = p_state_id
    for update of s;

    -- Not in the statement: the index of names would be as good while no statistics know better.
    if v_state.id is null or v_state.deleted_at is not null then
        raise exception using
            errcode = 'KL201',
            message = format('there is no state %s', to_json(p_name)),
            detail = jsonb_build_object('state', p_name)::text;
    end if;

    return v_state;
end;
$$;

comment on function kl_internal.lock_known_state(uuid, text) is
'Lock the row of a state that this transaction has found and authorised; it comes back as it is now.

Locks: state row. Raises: KL201 (deleted in between).';
