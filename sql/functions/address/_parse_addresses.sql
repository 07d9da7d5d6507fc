create or replace function kl_internal.parse_addresses(p_addresses text[])
returns table (
    ordinal        bigint,
    module_path    text,
    mode           text,
    type           text,
    name           text,
    index_key      jsonb,
    has_key        boolean,
    path           text,
    address        text,
    config_address text
)
language plpgsql
immutable
parallel safe
rows 100
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_count bigint;
begin
    return query
    select p.*
    from kl_internal.plain_addresses(p_addresses) as p;

    get diagnostics v_count = row_count;
    if v_count = cardinality(p_addresses) then
        return;
    end if;

    return query
    select n.ordinal, a.*
    from unnest(p_addresses) with ordinality as n (address, ordinal)
    left join kl_internal.plain_addresses(p_addresses) as p on p.ordinal = n.ordinal
    cross join lateral kl_internal.parse_address(n.address) as a
    where p.ordinal is null;
end;
$$;

comment on function kl_internal.parse_addresses(text[]) is
'kl_internal.parse_address of many, each with its ordinal, in any order: a fraction of the calls.

Raises: KL001.';
