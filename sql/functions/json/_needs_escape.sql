create or replace function kl_internal.needs_escape(p_text text)
returns boolean
language sql
immutable
parallel safe
as $$
    -- NUL, surrogate escapes (paired ones come through unharmed), numerals with an exponent of
    -- three digits, and numerals that only a very long text can hold.
    select p_text ~ '\\u(0000|[dD])|[:,\[]\s*-?[0-9.]+[eE][+-]?[0-9]{3}'
        or (
            pg_catalog.octet_length(p_text) > 60000
            and p_text ~ '[0-9]{250}'
        );
$$;

comment on function kl_internal.needs_escape(text) is
'Whether JSON text may hold what jsonb cannot hold or would blow up; null for null. Inlined.

Where it says no, the cast to jsonb succeeds and is exact.';
