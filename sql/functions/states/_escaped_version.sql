create or replace function kl_internal.escaped_version(p_version kl_internal.state_versions)
returns kl_internal.state_versions
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_version kl_internal.state_versions%rowtype := p_version;
begin
    if not p_version.escaped then
        v_version.escaped := true;
        v_version.lineage := kl_internal.escaped_text(p_version.lineage, false);
        v_version.terraform_version := kl_internal.escaped_text(p_version.terraform_version, false);
        v_version.check_results := kl_internal.escaped_jsonb(p_version.check_results::text);
        v_version.extra := kl_internal.escaped_jsonb(p_version.extra::text);
    end if;

    return v_version;
end;
$$;

comment on function kl_internal.escaped_version(kl_internal.state_versions) is
'A version with its members in escaped form (kl_internal.escape_json), whichever form they are in.';
