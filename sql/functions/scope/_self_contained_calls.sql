create or replace function kl_internal.self_contained_calls(p_context jsonb)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        with calls as materialized (
            select distinct m.address as config_address
            from kl_internal.module_calls(p_context) as m
            where m.self_contained
        )
        -- All calls around it too: else it could be reached through another instance of theirs.
        select coalesce(array_agg(c.config_address order by length(c.config_address)), '{}')
        from calls as c
        where (
            select count(*)
            from calls as o
            where starts_with(c.config_address || '.', o.config_address || '.')
        ) = array_length(string_to_array(c.config_address, '.'), 1) / 2
    );
end;
$$;

comment on function kl_internal.self_contained_calls(jsonb) is
'The module calls, without keys, of which the client says that none of their inputs reaches one of
their own outputs: what an instance of such a call depends on inside the call is its own.

Names in a configuration address hold no dot, so a call and a dot begin all that is inside it.
Raises: KL001.';
