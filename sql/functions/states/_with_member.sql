create or replace function kl_internal.with_member(
    p_version kl_internal.state_versions,
    p_member  text
)
returns kl_internal.state_versions
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_version kl_internal.state_versions%rowtype := p_version;
begin
    v_version.omitted := array_remove(p_version.omitted, p_member);
    v_version.extra := nullif(p_version.extra - p_member, '{}');
    return v_version;
end;
$$;

comment on function kl_internal.with_member(kl_internal.state_versions, text) is
'A version whose document has that standard member, even if its predecessor''s had it not.';
