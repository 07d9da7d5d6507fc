create or replace function kl_internal.read_lock_info(p_lock_info text)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_info jsonb;
begin
    if kl_internal.fits_jsonb(p_lock_info) then
        v_info := p_lock_info::jsonb;
    end if;

    if jsonb_typeof(v_info) is distinct from 'object'
        or jsonb_typeof(v_info -> 'ID') is distinct from 'string'
        or v_info ->> 'ID' = '' then
        raise exception using
            errcode = 'KL001',
            message = 'the body is not a LockInfo: a JSON object with an ID is needed',
            detail = '{}';
    end if;

    return v_info;
end;
$$;

comment on function kl_internal.read_lock_info(text) is
'Terraform''s LockInfo as jsonb, checked to have an ID.

Raises: KL001.';
