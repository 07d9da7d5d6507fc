-- requires: json/_needs_escape
create or replace function kl_internal.needs_escapes(p_pieces bytea[])
returns boolean
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    -- A few pieces are one text: each test starts rarely, and no text is long that need not be.
    select bool_or(kl_internal.needs_escape(t.text))
    from (
        select convert_from(string_agg(p.piece, ','), 'UTF8') as text
        from unnest(p_pieces) with ordinality as p (piece, place)
        group by p.place / 16
        offset 0
    ) as t;
$$;

comment on function kl_internal.needs_escapes(bytea[]) is
'Whether any of the pieces of JSON may hold what jsonb cannot hold; null for no pieces.

It errs on the safe side: some short pieces are one long text (kl_internal.needs_escape).';
