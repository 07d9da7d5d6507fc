-- requires: json/_escaped_jsonb
create or replace function kl_internal.projected(p_json json, p_escaped boolean)
returns jsonb
language sql
immutable
parallel safe
as $$
    select case
        when p_escaped then kl_internal.escaped_jsonb(p_json::text)
        else p_json::jsonb
    end;
$$;

comment on function kl_internal.projected(json, boolean) is
'Stored JSON text as jsonb, for questions; in escaped form where the row says so. Inlined.';
