create or replace function kl_internal.read_moves(p_moves jsonb)
returns table (address text, "to" text)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_odd text;
begin
    if jsonb_typeof(p_moves) is distinct from 'array' or p_moves = '[]' then
        perform kl_internal.refuse_member('/moves', 'must be a list of {address, to}');
    end if;

    select format(
        '/moves/%s%s',
        m.position - 1,
        case
            when jsonb_typeof(m.move) <> 'object' then ''
            when jsonb_typeof(m.move -> 'address') is distinct from 'string' then '/address'
            else '/to'
        end
    )
    into v_odd
    from jsonb_array_elements(p_moves) with ordinality as m (move, position)
    where jsonb_typeof(m.move -> 'address') is distinct from 'string'
        or jsonb_typeof(m.move -> 'to') is distinct from 'string'
    order by m.position
    limit 1;

    if found then
        perform kl_internal.refuse_member(v_odd, 'is not as in a list of {address, to}');
    end if;

    return query
    select
        m.move ->> 'address',
        m.move ->> 'to'
    from jsonb_array_elements(p_moves) with ordinality as m (move, position)
    order by m.position;
end;
$$;

comment on function kl_internal.read_moves(jsonb) is
'The moves of a request, in order.

Raises: KL001 (with the JSON pointer).';
