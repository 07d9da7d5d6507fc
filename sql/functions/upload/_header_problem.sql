create or replace function kl_internal.header_problem(p_header jsonb)
returns text
language sql
immutable
parallel safe
as $$
    -- Null when the resource header is one that Terraform reads and keeps.
    select case
        when p_header ->> 'mode' is null or p_header ->> 'mode' not in ('managed', 'data') then
            'mode must be "managed" or "data"'
        when pg_catalog.jsonb_typeof(p_header -> 'type') is distinct from 'string'
            or p_header ->> 'type' = '' then
            'type must be a name'
        when pg_catalog.jsonb_typeof(p_header -> 'name') is distinct from 'string'
            or p_header ->> 'name' = '' then
            'name must be a name'
        when pg_catalog.jsonb_typeof(p_header -> 'module') not in ('string', 'null') then
            'module must be a text'
        when pg_catalog.jsonb_typeof(p_header -> 'provider') not in ('string', 'null') then
            'provider must be a text'
    end;
$$;

comment on function kl_internal.header_problem(jsonb) is
'What is wrong with a resource''s own members, its provider''s grammar aside; or null. Inlined.';
