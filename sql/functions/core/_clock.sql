create or replace function kl_internal.clock()
returns timestamptz
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    select clock_timestamp();
$$;

comment on function kl_internal.clock() is
'The time that leases, locks and versions go by: the database''s. Tests replace it.';
