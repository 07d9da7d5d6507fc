create or replace function kl.known_path(p_state text, p_address text)
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return kl_internal.known_path(
        (kl_internal.reader_state(p_state)).id, p_state, p_address
    );
end;
$$;

comment on function kl.known_path(text, text) is
'The path of an address that a state has or had: as it is spelt, else the only one that is equal
once both are composed (NFC).

All its objects have paths from there up to, not including, the same with U+0008 behind it.
Raises: KL001, KL101, KL102, KL201, KL203. Callers: analysts, server, CLI.';
