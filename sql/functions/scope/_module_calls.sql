create or replace function kl_internal.module_calls(p_context jsonb)
returns table (address text, keyed boolean, self_contained boolean)
language plpgsql
immutable
rows 10
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select
        m.config_address,
        kl_internal.json_member(c.value, 'keyed', 'boolean', c.pointer)::boolean,
        kl_internal.json_member(c.value, 'self_contained', 'boolean', c.pointer)::boolean
    from kl_internal.json_objects(
        p_context -> 'module_calls', '/client_context/module_calls'
    ) as c
    cross join lateral kl_internal.parse_module(
        kl_internal.json_member(c.value, 'address', 'string', c.pointer) #>> '{}'
    ) as m
    where m.config_address <> '';
exception
    when sqlstate 'KL001' then
        -- A fault of form is pointed at already; then this raises it again.
        perform kl_internal.refuse_address(
            array(
                select kl_internal.json_member(c.value, 'address', 'string', c.pointer) #>> '{}'
                from kl_internal.json_objects(
                    p_context -> 'module_calls', '/client_context/module_calls'
                ) as c
            ),
            'module',
            '/client_context/module_calls/%s/address'
        );
        raise;
end;
$$;

comment on function kl_internal.module_calls(jsonb) is
'What a client says of its module calls, by address without keys; null where it says nothing.

Raises: KL001.';
