create or replace function kl.read_opaque_page(p_version_id uuid, p_chunk_no integer)
returns bytea
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_version kl_internal.state_versions%rowtype;
    v_bytes   bytea;
begin
    select v.*
    into v_version
    from kl_internal.state_versions as v
    where v.id = p_version_id;

    if v_version.id is not null then
        perform kl_internal.authorize_state('state:read', v_version.state_id);
    end if;

    select c.bytes
    into v_bytes
    from kl_internal.opaque_chunks as c
    where c.version_id = p_version_id
        and c.chunk_no = p_chunk_no;

    if v_bytes is null and v_version.opaque and (
        p_chunk_no = 0
        or exists (
            select
            from kl_internal.opaque_chunks as c
            where c.version_id = p_version_id
                and c.chunk_no > p_chunk_no
        )
    ) then
        -- The end would make a whole document of what is left, or an empty one of nothing.
        raise exception using
            errcode = 'XX001',
            message = format(
                'bytes of the encrypted document of v%s are missing from the database',
                v_version.version_no
            ),
            detail = jsonb_build_object('version_id', p_version_id, 'chunk_no', p_chunk_no)::text;
    end if;

    return v_bytes;
end;
$$;

comment on function kl.read_opaque_page(uuid, integer) is
'One run of the bytes of an encrypted document, counted from 0; null at the end.

Locks: none. Raises: KL101, KL102, XX001 (there must be bytes, and there are none). Callers: server,
CLI.';
