create or replace function kl_internal.refuse_object(p_address text, p_member text, p_reason text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using
        errcode = 'KL001',
        message = format('%s: %s %s; nothing was stored', p_address, p_member, p_reason),
        detail = jsonb_build_object('address', p_address, 'member', p_member)::text;
end;
$$;

comment on function kl_internal.refuse_object(text, text, text) is
'Refuse the document for one member of one object. Never returns.

Raises: KL001.';
