create or replace function kl_internal.lock_or_create_state(
    p_name      text,
    p_upload_id uuid
)
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

        insert into kl_internal.states (id, environment_id, name)
        select
            coalesce(
                (
                    select c.state_id
                    from kl_internal.upload_claims as c
                    where c.upload_id = p_upload_id
                        and not exists (
                            select
                            from kl_internal.states as s
                            where s.id = c.state_id
                        )
                ),
                gen_random_uuid()
            ),
            v_environment_id,
            v_state_name
        on conflict do nothing;
    end loop;
end;
$$;

comment on function kl_internal.lock_or_create_state(text, uuid) is
'The state row of that name under its row lock, made (as a placeholder) where there is none.

p_upload_id: a new state gets the id that this upload claims; null: its own.
Locks: state row. Raises: KL001, KL201 (no such environment).';
