-- requires: address/_bounded_text
create or replace function kl_internal.integer_path(p_number numeric)
returns text
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
    -- The order of the texts is that of the numbers: negative, twenty digits, more digits.
    select case
        when p_number <= -1 then '-'
        when p_number < 100000000000000000000 then ''
        else ':' || lpad(length(trunc(p_number)::text)::text, 6, '0')
    end || kl_internal.bounded_text(lpad(abs(trunc(p_number))::text, 20, '0'));
$$;

comment on function kl_internal.integer_path(numeric) is
'The path form of an integer instance key; a fraction is cut as Terraform cuts it.';
