create or replace function kl_internal.committed_before(p_apply_id uuid, p_digest bytea)
returns kl_internal.state_versions
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_version kl_internal.state_versions%rowtype;
begin
    select v.*
    into v_version
    from kl_internal.state_versions as v
    where v.run_id = p_apply_id
        and v.request_digest = p_digest
    order by v.version_no
    limit 1;

    -- Not in the statement: another index would be as good while no statistics know better.
    if v_version.source is distinct from 'apply' then
        return null;
    end if;

    return case when v_version.principal = kl_internal.current_principal() then v_version end;
end;
$$;

comment on function kl_internal.committed_before(uuid, bytea) is
'The version that the same request of the same run and principal made; null when there is none.';
