-- requires: address/_escaped_text, address/_quote_key
create or replace function kl_internal.instance_key_text(p_index_key jsonb, p_escaped boolean)
returns text
language sql
immutable
parallel safe
as $$
    -- '' without a key, [0] for a number (cut to an integer as Terraform does), ["k"] for a string.
    select case pg_catalog.jsonb_typeof(p_index_key)
        when 'number' then
            '[' || pg_catalog.trunc(p_index_key::pg_catalog.numeric)::text || ']'
        when 'string' then
            case
                when p_index_key #>> '{}' ~ '^[ !#&-Z^-z|~]*$' then
                    '["' || (p_index_key #>> '{}') || '"]'
                else
                    '[' || kl_internal.quote_key(
                        kl_internal.escaped_text(p_index_key #>> '{}', p_escaped)
                    ) || ']'
            end
        else ''
    end;
$$;

comment on function kl_internal.instance_key_text(jsonb, boolean) is
'The bracketed instance key of an address as Terraform prints it; empty without a key. Inlined.';
