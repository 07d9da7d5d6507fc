create or replace function kl_internal.key_problem(p_index_key jsonb, p_deposed jsonb)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.jsonb_typeof(p_index_key) not in ('number', 'string', 'null') then
            'index_key must be an integer or a string'
        when pg_catalog.jsonb_typeof(p_deposed) not in ('string', 'null')
            or pg_catalog.char_length(p_deposed #>> '{}') not in (0, 8) then
            'deposed key ' || p_deposed::text || ' must have 8 characters'
    end;
$$;

comment on function kl_internal.key_problem(jsonb, jsonb) is
'What is wrong with an instance''s index_key or deposed key; null when nothing is. Inlined.';
