create or replace function kl_internal.refuse_move(p_source text, p_target text, p_problem text)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using
        errcode = 'KL001',
        message = format('%s cannot move to %s: %s; nothing was stored',
            p_source, p_target, p_problem),
        detail = jsonb_build_object('address', p_source, 'to', p_target)::text;
end;
$$;

comment on function kl_internal.refuse_move(text, text, text) is
'Refuse one move, saying why. Never returns.

Raises: KL001.';
