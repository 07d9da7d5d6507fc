-- What tests put into the template: schema kl_test, and a clock that a test can set.
create schema kl_test;
grant usage on schema kl_test to public;

create or replace function kl_internal.clock()
returns timestamptz
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(
        nullif(current_setting('kl_test.now', true), '')::timestamptz,
        clock_timestamp()
    );
$$;

create function kl_test.set_clock(p_now timestamptz)
returns void
language sql
volatile
as $$
    select set_config('kl_test.now', p_now::text, true);
$$;

grant execute on function kl_test.set_clock(timestamptz) to public;
