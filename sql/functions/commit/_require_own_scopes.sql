create or replace function kl_internal.require_own_scopes(
    p_run       kl_internal.apply_runs,
    p_paths     text[],
    p_addresses text[]
)
returns kl_gist.scope_multirange
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_scopes    kl_gist.scope_multirange := kl_internal.live_scopes(p_run.id, 'write');
    v_uncovered text[];
    v_addresses text[];
    v_conflicts jsonb;
begin
    -- One instance is what most commits are of.
    if cardinality(p_paths) = 1 and v_scopes @> p_paths[1] then
        return v_scopes;
    end if;

    select
        array_agg(p.path),
        array_agg(p.address)
    into v_uncovered, v_addresses
    from unnest(p_paths, p_addresses) as p (path, address)
    where not v_scopes @> p.path;

    if v_uncovered is null then
        if p_paths = '{}' then  -- outputs and checks alone are in no scope
            perform kl_internal.require_live_lease(p_run);
        end if;
        return v_scopes;
    end if;

    v_conflicts := kl_internal.others_scopes(p_run.state_id, p_run.id, v_uncovered);
    raise exception using
        errcode = case when v_conflicts is null then 'KL305' else 'KL301' end,
        message = case
            when v_conflicts is null then
                'the run holds no live write reservation over what it commits; nothing was stored'
            else format(
                'what is to be committed is not reserved by this run, and %s holds it; nothing '
                    || 'was stored',
                coalesce(v_conflicts #>> '{0,holder}', 'another run')
            )
        end,
        detail = jsonb_strip_nulls(jsonb_build_object(
            'addresses', v_addresses[:100],
            'conflicts', v_conflicts
        ))::text;
end;
$$;

comment on function kl_internal.require_own_scopes(kl_internal.apply_runs, text[], text[]) is
'What a run holds for writing now, which must cover all of those paths. The state row is locked.

Raises: KL301 (another run holds what this one does not), KL305.';
