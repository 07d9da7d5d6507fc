create or replace function kl_internal.refuse_member(p_pointer text, p_problem text)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using
        errcode = 'KL001',
        message = format('%s %s; nothing was stored', p_pointer, p_problem),
        detail = jsonb_build_object('pointer', p_pointer)::text;
end;
$$;

comment on function kl_internal.refuse_member(text, text) is
'Refuse a request for one of its members, by its JSON pointer. Never returns.

Raises: KL001.';
