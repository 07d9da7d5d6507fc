create or replace function kl_internal.wire_time(p_time timestamptz)
returns text
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    select to_char(p_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
$$;

comment on function kl_internal.wire_time(timestamptz) is
'A time as answers and messages have it: RFC 3339 in UTC, whatever the time zone of the session.';
