create or replace function kl_internal.delta_digest(
    p_base_serial     numeric,
    p_base_version_id uuid,
    p_delta           json
)
returns bytea
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select sha256(convert_to(
        concat_ws(E'\n', 'delta', p_base_serial, p_base_version_id, p_delta::text),
        'UTF8'
    ));
$$;

comment on function kl_internal.delta_digest(numeric, uuid, json) is
'What tells one commit request of a run from another.';
