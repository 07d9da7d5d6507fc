-- requires: json/_staged_json
create or replace function kl_internal.parsed_bodies(
    p_slices  bytea[],
    p_forms   integer[],
    p_escaped boolean
)
returns jsonb[]
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    select array_agg(
        case
            when s.form in (select f.form from unnest(p_forms) as f (form)) then
                kl_internal.staged_json(s.slice, p_escaped)
        end
        order by s.form
    )
    from unnest(p_slices) with ordinality as s (slice, form);
$$;

comment on function kl_internal.parsed_bodies(bytea[], integer[], boolean) is
'The staged slices as jsonb, in place; only those in p_forms are read, the others are null.

Raises: what jsonb raises where the plain form does not fit.';
