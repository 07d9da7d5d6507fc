-- requires: address/_instance_key_text
create or replace function kl_internal.block_address(
    p_address   text,
    p_index_key jsonb,
    p_escaped   boolean
)
returns text
language sql
immutable
parallel safe
as $$
    select case pg_catalog.jsonb_typeof(p_index_key)
        when 'number' then
            pg_catalog.rtrim(pg_catalog.rtrim(p_address, '-0123456789]'), '[')
        when 'string' then
            pg_catalog.left(
                p_address, -pg_catalog.length(kl_internal.instance_key_text(p_index_key, p_escaped))
            )
        else p_address
    end;
$$;

comment on function kl_internal.block_address(text, jsonb, boolean) is
'The address of an instance without its key: all instances of its block in that module. Inlined.';
