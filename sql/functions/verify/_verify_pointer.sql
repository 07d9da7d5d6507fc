create or replace function kl_internal.verify_pointer(p_state kl_internal.states)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_array(jsonb_build_object(
        'kind', 'versions',
        'address', null,
        'problem', 'the state does not point at its last version',
        'from_version_no', min(v.version_no),
        'to_version_no', max(v.version_no)
    ))
    from kl_internal.state_versions as v
    where v.state_id = p_state.id
        and v.version_no > p_state.current_version_no
    having count(*) > 0;
$$;

comment on function kl_internal.verify_pointer(kl_internal.states) is
'A finding when there are versions after the current one; null otherwise.';
