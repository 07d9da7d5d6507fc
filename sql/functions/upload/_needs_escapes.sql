-- requires: json/_needs_escape
create or replace function kl_internal.needs_escapes(p_pieces bytea[])
returns boolean
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    -- One text, so that each test runs once.
    select kl_internal.needs_escape(t.text)
    from (
        select convert_from(string_agg(p.piece, ','), 'UTF8') as text
        from unnest(p_pieces) as p (piece)
        offset 0
    ) as t;
$$;

comment on function kl_internal.needs_escapes(bytea[]) is
'Whether any of the pieces of JSON may hold what jsonb cannot hold; null for no pieces.

It errs on the safe side: many short pieces are one long text (kl_internal.needs_escape).';
