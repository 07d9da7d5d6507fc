create or replace function kl.stage_missing(p_name text, p_upload_id uuid)
returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state      kl_internal.states%rowtype;
    v_comparison kl_internal.upload_comparisons%rowtype;
begin
    perform kl_internal.authorize('state:write');
    v_state := kl_internal.find_state(p_name);
    perform kl_internal.claim_state(v_state, p_upload_id);
    v_comparison := kl_internal.compare_upload(v_state, p_upload_id);
    return kl_internal.missing_slices(p_upload_id, v_comparison.unmatched);
end;
$$;

comment on function kl.stage_missing(text, uuid) is
'Which objects of an upload must still be sent: an int4multirange of ordinals, {} for none.

While the state has no version, the objects of the first upload that asks go where they will stay.
Locks: the row of a state without a version, shared.
Raises: KL001, KL101, KL102, KL201 (no such environment). Callers: server, CLI.';
