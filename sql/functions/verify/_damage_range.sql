create or replace function kl_internal.damage_range(
    p_from_no bigint,
    p_end_no  bigint,
    p_last_no bigint
)
returns jsonb
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object(
        'from_version_no', p_from_no,
        'to_version_no', least(coalesce(p_end_no - 1, p_last_no), p_last_no)
    );
$$;

comment on function kl_internal.damage_range(bigint, bigint, bigint) is
'The versions that a row of a half-open range is part of, as members of a finding.';
