-- requires: upload/_refuse_object
create or replace function kl_internal.checked_private(p_address text, p_private text)
returns text
language sql
stable
as $$
    select case
        when p_private is null
            or p_private ~ '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$' then
            p_private
        else kl_internal.refuse_object(p_address, 'private', 'is not base64')
    end;
$$;

comment on function kl_internal.checked_private(text, text) is
'The private member of an object. Inlined.

Raises: KL001.';
