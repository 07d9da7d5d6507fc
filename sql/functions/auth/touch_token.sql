-- requires: core/_clock
create or replace function kl.touch_token()
returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
    update kl_internal.api_tokens as t
    set last_used_at = kl_internal.clock()
    where t.token_hash = sha256(convert_to(current_setting('kl.token', true), 'UTF8'))
        and (
            t.last_used_at is null
            or t.last_used_at < kl_internal.clock() - interval '1 minute'
        );
$$;

comment on function kl.touch_token() is
'Remember that the token of this transaction (kl.token) was used now, once a minute.

Locks: none. Raises: nothing. Callers: server.';
