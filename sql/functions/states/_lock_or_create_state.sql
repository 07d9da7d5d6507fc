create or replace function kl_internal.lock_or_create_state(p_name text)
returns kl_internal.states
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_environment_id uuid;
    v_state_name     text;
    v_state          kl_internal.states%rowtype;
begin
    select n.environment_id, n.state_name
    into v_environment_id, v_state_name
    from kl_internal.resolve_name(p_name) as n;

    -- A delete between the two statements frees the name again: then the insert is repeated.
    loop
        select s.*
        into v_state
        from kl_internal.states as s
        where s.environment_id = v_environment_id
            and s.name = v_state_name
            and s.deleted_at is null
        for update;

        if found then
            return v_state;
        end if;

        insert into kl_internal.states (environment_id, name)
        values (v_environment_id, v_state_name)
        on conflict do nothing;
    end loop;
end;
$$;

comment on function kl_internal.lock_or_create_state(text) is
'The state row of that name under its row lock, made (as a placeholder) where there is none.

Locks: state row. Raises: KL001, KL201 (no such environment).';
