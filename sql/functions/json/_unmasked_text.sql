-- requires: address/_escaped_text, json/_escaped_jsonb, json/_unmask_escapes
create or replace function kl_internal.unmasked_text(p_string json, p_mark text)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when p_mark is null then kl_internal.escaped_text(p_string #>> '{}', false)
        else kl_internal.escaped_jsonb(
            kl_internal.unmask_escapes(p_string::text, p_mark)
        ) #>> '{}'
    end;
$$;

comment on function kl_internal.unmasked_text(json, text) is
'A JSON string as text in escaped form (kl_internal.escape_json), read under a mark or not.

Inlined.';
