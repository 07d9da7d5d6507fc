-- requires: address/_is_printable
create or replace function kl_internal.quote_key(p_key text)
returns text
language sql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
    -- p_key is in escaped form: U+FDD0 and four digits are one UTF-16 unit.
    select '"' || coalesce(
        string_agg(
            case
                when u.unit[1] = E'\n' then '\n'
                when u.unit[1] = E'\r' then '\r'
                when u.unit[1] = E'\t' then '\t'
                when u.unit[1] = '"' then '\"'
                when u.unit[1] = '\' then '\\'
                when u.unit[1] in ('${', '%{') then left(u.unit[1], 1) || u.unit[1]
                when char_length(u.unit[1]) = 5 then '\u' || lower(right(u.unit[1], 4))
                when kl_internal.is_printable(u.unit[1]) then u.unit[1]
                when ascii(u.unit[1]) > 65535 then
                    '\U' || lpad(to_hex(ascii(u.unit[1])), 8, '0')
                else '\u' || lpad(to_hex(ascii(u.unit[1])), 4, '0')
            end,
            ''
            order by u.unit_no
        ),
        ''
    ) || '"'
    from regexp_matches(p_key, chr(64976) || '[0-9a-fA-F]{4}|[$%]\{|.', 'g')
        with ordinality as u (unit, unit_no);
$$;

comment on function kl_internal.quote_key(text) is
'An instance key quoted as Terraform prints it (HCL template quoting).

Callers: kl_internal.instance_key_text, for keys that need more than quotes around them.';
