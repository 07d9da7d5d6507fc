create or replace function kl_internal.slice_paths(p_addresses text[])
returns table (address text, path text)
language plpgsql
stable
rows 100
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select distinct
        a.address,
        a.path || case when a.has_key then '' else E'\x02' end
    from kl_internal.parse_addresses(p_addresses) as a;
exception
    when sqlstate 'KL001' then
        perform kl_internal.refuse_address(p_addresses, 'address', '/addresses/%s');
        raise;
end;
$$;

comment on function kl_internal.slice_paths(text[]) is
'The paths of exact instance addresses: one without key is the instance without key.

Raises: KL001.';
