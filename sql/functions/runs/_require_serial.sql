create or replace function kl_internal.require_serial(p_serial numeric, p_pointer text)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_serial not between 0 and 18446744073709551615 or p_serial <> trunc(p_serial) then
        raise exception using
            errcode = 'KL001',
            message = format('%s is no serial', p_serial),
            detail = jsonb_build_object('pointer', p_pointer)::text;
    end if;
end;
$$;

comment on function kl_internal.require_serial(numeric, text) is
'Check that a number, if there is one, can be a serial of Terraform''s: 64 bits, unsigned.

p_pointer: where the request has it. Raises: KL001.';
