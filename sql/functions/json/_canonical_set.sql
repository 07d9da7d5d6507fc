create or replace function kl_internal.canonical_set(p_array jsonb)
returns jsonb
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select case
        when jsonb_typeof(p_array) <> 'array' or jsonb_array_length(p_array) < 2 then p_array
        else (
            select jsonb_agg(distinct e.element)
            from jsonb_array_elements(p_array) as e (element)
        )
    end;
$$;

comment on function kl_internal.canonical_set(jsonb) is
'An array that means a set, in one order and without repetitions.';
