create or replace function kl_internal.remote_state_name(p_address text)
returns text
language plpgsql
immutable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_path text := substring(p_address from '^https?://[^/?#]+(?:/[^?#]*)?/v1/states/([^?#]+)');
begin
    if v_path !~ '%' then
        return v_path;
    end if;

    return convert_from(
        (
            select string_agg(
                case
                    when u.part[1] ~ '^%' then decode(substr(u.part[1], 2), 'hex')
                    else convert_to(u.part[1], 'UTF8')
                end,
                ''
                order by u.part_no
            )
            from regexp_matches(v_path, '%[0-9a-fA-F]{2}|[^%]+|%', 'g')
                with ordinality as u (part, part_no)
        ),
        'UTF8'
    );
exception
    when character_not_in_repertoire or untranslatable_character
        or invalid_parameter_value then
        return null;  -- no name of a state escapes to this
end;
$$;

comment on function kl_internal.remote_state_name(text) is
'The state that a URL of Kilolock''s HTTP backend names; null for any other URL.

Definer: a view calls it as its reader.';
