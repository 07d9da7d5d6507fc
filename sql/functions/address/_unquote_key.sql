create or replace function kl_internal.unquote_key(p_body text)
returns text
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_key text;
begin
    if p_body !~ '[\\$%]' and strpos(p_body, chr(64976)) = 0 then
        return p_body;
    end if;

    select string_agg(
        case
            when u.unit[1] in ('$${', '%%{') then substr(u.unit[1], 2)
            when u.unit[1] in ('${', '%{') then null
            when left(u.unit[1], 1) <> '\' then kl_internal.escaped_text(u.unit[1], false)
            when u.unit[1] = '\n' then E'\n'
            when u.unit[1] = '\r' then E'\r'
            when u.unit[1] = '\t' then E'\t'
            when u.unit[1] in ('\"', '\\') then substr(u.unit[1], 2)
            when char_length(u.unit[1]) > 2 then
                kl_internal.code_point_text(
                    ('x' || lpad(substr(u.unit[1], 3), 8, '0'))::bit(32)::integer
                )
        end,
        ''
        order by u.unit_no
    )
    into v_key
    from regexp_matches(
        p_body,
        '\$\$\{|%%\{|[$%]\{|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\.|.',
        'g'
    ) with ordinality as u (unit, unit_no)
    having bool_and(
        u.unit[1] not in ('${', '%{')
        and (u.unit[1] !~ '^\\' or u.unit[1] ~ '^\\([nrt"\\]$|u.|U.)')
    );

    if v_key is null then
        raise exception using
            errcode = 'KL001',
            message = format('%s is not a quoted instance key', '"' || p_body || '"'),
            detail = jsonb_build_object('key', p_body)::text;
    end if;

    return v_key;
end;
$body$;

comment on function kl_internal.unquote_key(text) is
'The key, in escaped form, that stands between the quotes of an instance key.

Raises: KL001.';
