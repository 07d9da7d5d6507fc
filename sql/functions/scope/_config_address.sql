create or replace function kl_internal.config_address(p_address text)
returns text
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Most have no key, and are what they stand for.
    if p_address ~ '^(module\.[^\s.\[\]"''*\\]+\.)*(data\.)?[^\s.\[\]"''*\\]+\.[^\s.\[\]"''*\\]+$'
        and p_address !~ '(^|\.)(module|data|resource)\.[^.]+$' then
        return p_address;
    end if;

    return (
        select a.config_address
        from kl_internal.parse_address(p_address) as a
    );
end;
$$;

comment on function kl_internal.config_address(text) is
'A resource address without any key, its own and those of its modules.

Raises: KL001.';
