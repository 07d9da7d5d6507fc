create or replace function kl_internal.refuse_node_address(p_context jsonb)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_node record;
begin
    -- A fault of form is pointed at already; then this raises it again.
    perform kl_internal.refuse_address(
        array(
            select coalesce(
                kl_internal.json_member(n.value, 'address', 'string', n.pointer) #>> '{}', ''
            )
            from kl_internal.json_objects(
                p_context -> 'config_nodes', '/client_context/config_nodes'
            ) as n
        ),
        'address',
        '/client_context/config_nodes/%s/address'
    );

    for v_node in
        select n.value -> 'dependencies' as dependencies, n.pointer || '/dependencies' as pointer
        from kl_internal.json_objects(p_context -> 'config_nodes', '/client_context/config_nodes')
            as n
    loop
        perform kl_internal.refuse_address(
            kl_internal.json_texts(v_node.dependencies, v_node.pointer),
            'address',
            v_node.pointer || '/%s'
        );
    end loop;
end;
$$;

comment on function kl_internal.refuse_node_address(jsonb) is
'Say which config node or dependency is no address, once a request is known to have one.

Returns when all are addresses. Raises: KL001.';
