create or replace function kl_internal.refuse_wildcards(p_addresses text[], p_pointer text)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_odd bigint;
begin
    -- Between quotes it is text.
    select min(a.position) - 1
    into v_odd
    from unnest(p_addresses) with ordinality as a (address, position)
    where strpos(a.address, '*') > 0
        and strpos(regexp_replace(a.address, '"(?:[^"\\]|\\.)*"', '', 'g'), '*') > 0;

    if v_odd is not null then
        perform kl_internal.refuse_member(
            p_pointer || '/' || v_odd, 'has a wildcard: name each address'
        );
    end if;
end;
$$;

comment on function kl_internal.refuse_wildcards(text[], text) is
'Check that no address of a list has a wildcard: what it would change is not said.

p_pointer: where the list stands. Raises: KL001.';
