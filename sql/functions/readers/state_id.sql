create or replace function kl.state_id(p_state text)
returns uuid
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return (kl_internal.reader_state(p_state)).id;
end;
$$;

comment on function kl.state_id(text) is
'The id of the state that a name means: NAME in the default environment, or ws_…/env_…/NAME.

Raises: KL001, KL101, KL102, KL201. Callers: analysts, server, CLI.';
