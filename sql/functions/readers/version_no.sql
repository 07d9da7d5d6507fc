create or replace function kl.version_no(p_state text, p_version text default 'current')
returns bigint
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        kl_internal.resolve_version(kl_internal.reader_state(p_state), p_version)
    ).version_no;
end;
$$;

comment on function kl.version_no(text, text) is
'The version_no that a reference to a version of a state means.

p_version: current, @N (N versions before it), a serial (the latest version with it), vN, a version
id, a tag, or a timestamp (what was current then).
Raises: KL001, KL101, KL102, KL201, KL202. Callers: analysts, server, CLI.';
