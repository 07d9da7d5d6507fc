create or replace function kl_internal.scope_culprits(
    p_absent  kl_internal.scope_absence[],
    p_unknown kl_internal.scope_object[],
    p_nodes   text[]
)
returns table (reason text, address text, note text)
language plpgsql
stable
rows 10
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select
        case when a.asked then 'unknown_candidate' else 'unresolved_dependency' end,
        a.address,
        case
            when a.asked then format(
                '%s is not in the state, and nothing says that it is to be created: name it '
                    || 'in undeployed_config_candidates, or if it is gone in '
                    || 'removed_config_candidates',
                a.address
            )
            else format(
                'the scope depends on %s, which is not in the state: send its block in '
                    || 'config_nodes, or name it in removed_config_candidates if it is gone',
                a.address
            )
        end
    from unnest(p_absent) as a
    where not a.planned
    union all
    select
        'unknown_dependencies',
        a.address,
        format(
            '%s is to be created, and nothing says what it depends on: send its block in '
                || 'config_nodes',
            a.address
        )
    from unnest(p_absent) as a
    where a.planned
        and a.config_address not in (select unnest(p_nodes))
    union all
    select
        'unknown_dependencies',
        u.address,
        format(
            '%s has no stored dependencies, and nothing says what it depends on: send its block '
                || 'in config_nodes',
            u.address
        )
    from unnest(p_unknown) as u
    where u.config_address not in (select unnest(p_nodes));
end;
$$;

comment on function kl_internal.scope_culprits(
    kl_internal.scope_absence[], kl_internal.scope_object[], text[]
) is
'Why nobody can tell that a scope is whole, each with a note that says what would settle it.

p_unknown: objects of which the state does not say what they depend on; p_nodes may.';
