create or replace function kl.read_opaque_page(p_version_id uuid, p_chunk_no integer)
returns bytea
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform kl_internal.authorize_state('state:read', v.state_id)
    from kl_internal.state_versions as v
    where v.id = p_version_id;

    return (
        select c.bytes
        from kl_internal.opaque_chunks as c
        where c.version_id = p_version_id
            and c.chunk_no = p_chunk_no
    );
end;
$$;

comment on function kl.read_opaque_page(uuid, integer) is
'One run of the bytes of an encrypted document, counted from 0; null at the end.

Locks: none. Raises: KL101, KL102. Callers: server, CLI.';
