create or replace function kl_internal.current_comparison(
    p_state     kl_internal.states,
    p_upload_id uuid
)
returns kl_internal.upload_comparisons
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_comparison kl_internal.upload_comparisons%rowtype;
begin
    -- Every write of open rows moves one of the two numbers, and the row lock keeps them. What was
    -- compared before there was a state holds as long as it has no version.
    select c.*
    into v_comparison
    from kl_internal.upload_comparisons as c
    where c.upload_id = p_upload_id
        and coalesce(c.state_id, p_state.id) = p_state.id
        and coalesce(c.version_no, 0) = p_state.current_version_no
        and coalesce(c.slices_no, 0) = p_state.slices_no;

    if not found then
        v_comparison := kl_internal.compare_upload(p_state, p_upload_id);
    end if;

    return v_comparison;
end;
$$;

comment on function kl_internal.current_comparison(kl_internal.states, uuid) is
'How an upload compares with a state whose row lock the caller holds: as remembered if that holds.';
