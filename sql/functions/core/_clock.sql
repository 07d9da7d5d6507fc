create or replace function kl_internal.clock()
returns timestamptz
language sql
volatile
as $$
    select pg_catalog.clock_timestamp();
$$;

comment on function kl_internal.clock() is
'The time that leases, locks and versions go by: the database''s. Inlined. Tests replace it.';
