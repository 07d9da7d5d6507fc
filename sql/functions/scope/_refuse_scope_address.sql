create or replace function kl_internal.refuse_scope_address(p_selectors jsonb, p_context jsonb)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    perform kl_internal.refuse_address(
        array(
            select case when s.kind = k.kind then s.value end
            from kl_internal.scope_selectors(p_selectors) with ordinality
                as s (kind, value, position)
            order by s.position
        ),
        k.parsed_as,
        '/selectors/%s/value'
    )
    from (values ('resource_address', 'address'), ('module_prefix', 'module'))
        as k (kind, parsed_as);

    perform kl_internal.refuse_address(
        kl_internal.json_texts(p_context -> l.member, '/client_context/' || l.member),
        'address',
        '/client_context/' || l.member || '/%s'
    )
    from (
        values
            ('explicit_write_candidates'),
            ('explicit_read_candidates'),
            ('undeployed_config_candidates'),
            ('removed_config_candidates')
    ) as l (member);
end;
$$;

comment on function kl_internal.refuse_scope_address(jsonb, jsonb) is
'Say which selector or candidate is no address, once a request is known to have one.

Returns when all are addresses. Raises: KL001.';
