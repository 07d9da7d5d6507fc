create or replace function kl.stage_missing(p_name text, p_upload_id uuid)
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state kl_internal.states%rowtype;
begin
    perform kl_internal.authorize('state:write');
    v_state := kl_internal.find_state(p_name);

    return kl_internal.missing_slices(
        p_upload_id,
        kl_internal.unmatched_ordinals(v_state.id, p_upload_id)
    );
end;
$$;

comment on function kl.stage_missing(text, uuid) is
'Which objects of an upload must still be sent: an int4multirange of ordinals, {} for none.

Locks: none. Raises: KL001, KL102, KL201 (no such environment). Callers: server, CLI.';
