-- requires: json/_escaped_jsonb
create or replace function kl_internal.staged_json(p_bytes bytea, p_escaped boolean)
returns jsonb
language sql
stable  -- as convert_from is: otherwise it would not be inlined
parallel safe
as $$
    select case
        when p_escaped then kl_internal.escaped_jsonb(pg_catalog.convert_from(p_bytes, 'UTF8'))
        else pg_catalog.convert_from(p_bytes, 'UTF8')::jsonb
    end;
$$;

comment on function kl_internal.staged_json(bytea, boolean) is
'A staged piece of JSON as jsonb, in escaped form when asked for. Inlined.

Raises: KL001; what jsonb raises where the plain form does not fit.';
