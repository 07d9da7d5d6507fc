create or replace function kl_internal.settle_claims(
    p_state     kl_internal.states,
    p_upload_id uuid
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Another upload's on this state, and this upload's on another one: it came too late.
    perform kl_internal.release_claims(
        array(
            select c.upload_id
            from kl_internal.upload_claims as c
            where c.upload_id = p_upload_id
                and c.state_id <> p_state.id
            union all
            select c.upload_id
            from kl_internal.upload_claims as c
            where c.state_id = p_state.id
                and c.upload_id <> p_upload_id
        )
    );

    -- No more rows after these, should anybody still send some.
    perform
    from kl_internal.upload_claims as c
    where c.upload_id = p_upload_id
    for update;
end;
$$;

comment on function kl_internal.settle_claims(kl_internal.states, uuid) is
'Leave no claim on a state but that of the upload which is being committed, and close that one.

Whoever writes a first version calls it. The caller holds the state row lock. Locks: the claims.';
