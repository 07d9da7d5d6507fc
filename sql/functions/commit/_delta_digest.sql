create or replace function kl_internal.delta_digest(
    p_base_serial     numeric,
    p_base_version_id uuid,
    p_delta           json
)
returns bytea
language sql
stable  -- as convert_to is: otherwise it would not be inlined
parallel safe
as $$
    select pg_catalog.sha256(pg_catalog.convert_to(
        pg_catalog.concat_ws(E'\n', 'delta', p_base_serial, p_base_version_id, p_delta::text),
        'UTF8'
    ));
$$;

comment on function kl_internal.delta_digest(numeric, uuid, json) is
'What tells one commit request of a run from another. Inlined.';
