create or replace function kl_internal.refuse_opaque(p_version kl_internal.state_versions)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_version.opaque then
        raise exception using
            errcode = 'KL002',
            message = 'the client encrypts this state: it can only be written whole',
            detail = '{}';
    end if;
end;
$$;

comment on function kl_internal.refuse_opaque(kl_internal.state_versions) is
'Refuse a native operation on a document that the client encrypted.

Raises: KL002.';
