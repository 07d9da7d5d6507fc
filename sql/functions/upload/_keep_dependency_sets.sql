create or replace function kl_internal.keep_dependency_sets(p_state_id uuid, p_upload_id uuid)
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    insert into kl_internal.dependency_sets (state_id, digest, addresses, config_addresses)
    select distinct on (u.digest)
        p_state_id,
        u.digest,
        u.addresses,
        u.config_addresses
    from kl_internal.upload_dependencies as u
    where u.upload_id = p_upload_id
        and not exists (
            select
            from kl_internal.dependency_sets as s
            where s.state_id = p_state_id
                and s.digest = u.digest
        )
    on conflict (state_id, digest) do nothing;

    update kl_internal.upload_dependencies as u
    set dependency_set_id = s.id
    from kl_internal.dependency_sets as s
    where u.upload_id = p_upload_id
        and s.state_id = p_state_id
        and s.digest = u.digest;
$$;

comment on function kl_internal.keep_dependency_sets(uuid, uuid) is
'Keep each distinct dependencies list of an upload once per state, and note which set it is.';
