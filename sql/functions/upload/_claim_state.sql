create or replace function kl_internal.claim_state(
    p_state     kl_internal.states,
    p_upload_id uuid
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_state.current_version_no > 0 then
        return;
    end if;

    -- A writer of the first version holds the row for update: it is over, or it will see the claim.
    perform
    from kl_internal.states as s
    where s.id = p_state.id
    for key share;

    insert into kl_internal.upload_claims (upload_id, state_id)
    select
        p_upload_id,
        coalesce(p_state.id, gen_random_uuid())
    where not exists (
        select
        from kl_internal.states as s
        where s.id = p_state.id
            and s.current_version_no > 0
    )
    on conflict do nothing;
end;
$$;

comment on function kl_internal.claim_state(kl_internal.states, uuid) is
'Let an upload open rows of a state that has no version, unless another upload does.

p_state: null where the name is free; then the claim is on an id that the state will get.
Locks: the row of the state, shared; the claim.';
