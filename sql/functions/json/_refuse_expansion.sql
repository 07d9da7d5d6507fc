create or replace function kl_internal.refuse_expansion()
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    raise numeric_value_out_of_range using message = 'a numeral is longer as text than as it came';
end;
$$;

comment on function kl_internal.refuse_expansion() is
'Raise what jsonb raises for a numeral it cannot hold; the caller then takes the escaped form.';
