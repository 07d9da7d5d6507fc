create or replace function kl_internal.refuse_address(
    p_texts   text[],
    p_kind    text,
    p_pointer text
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_message text;
    v_detail  text;
begin
    for v_place in 1 .. cardinality(p_texts) loop
        continue when p_texts[v_place] is null;
        begin
            case p_kind
                when 'glob' then perform kl_internal.glob_path(p_texts[v_place]);
                when 'module' then perform kl_internal.parse_module(p_texts[v_place]);
                else perform kl_internal.parse_address(p_texts[v_place]);
            end case;
        exception
            when sqlstate 'KL001' then
                get stacked diagnostics
                    v_message = message_text,
                    v_detail = pg_exception_detail;
                raise exception using
                    errcode = 'KL001',
                    message = v_message,
                    detail = (
                        coalesce(nullif(v_detail, ''), '{}')::jsonb
                            || jsonb_build_object('pointer', format(p_pointer, v_place - 1))
                    )::text;
        end;
    end loop;
end;
$$;

comment on function kl_internal.refuse_address(text[], text, text) is
'Say where the first text that is no address stands, once a request is known to have one.

p_kind: address, module or glob. p_pointer: its JSON pointer, with %s for the place; null is passed
over. Returns when all are addresses: then something else was wrong. Raises: KL001.';
