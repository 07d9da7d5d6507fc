create or replace function kl_internal.act_as(p_who text)
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    select set_config('kl.actor', p_who, true)
    where coalesce(current_setting('kl.actor', true), '') = ''
        and p_who <> '';
$$;

comment on function kl_internal.act_as(text) is
'Let the audit trail of this transaction name who a LockInfo says it is, unless kl.actor does.';
