create or replace function kl_internal.move_warnings(
    p_states     kl_internal.states[],
    p_moves      kl_internal.row_move[],
    p_dependents kl_internal.resources[]
)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_warnings text[] := array[]::text[];
begin
    if p_states[1].id = p_states[2].id then
        if cardinality(p_dependents) > 0 then
            v_warnings := array[format(
                'the dependencies of %s objects are rewritten', cardinality(p_dependents)
            )];
        end if;
        return v_warnings;
    end if;

    if cardinality(p_dependents) > 0 then
        v_warnings := array[format(
            '%s objects that stay depend on what moves away; their dependencies keep the address',
            cardinality(p_dependents)
        )];
    end if;

    return v_warnings || array(
        select format(
            '%s depends on %s, which the target state does not have', w.address, w.config_address
        )
        from (
            select distinct
                (m.after).path,
                (m.after).address,
                kl_internal.parse_dependency(a.dependency) as config_address
            from unnest(p_moves) as m
            inner join kl_internal.renamed_lists(
                p_states[1].id,
                array(select (b.before).dependency_set_id from unnest(p_moves) as b),
                p_moves
            ) as l on l.dependency_set_id = (m.before).dependency_set_id
            cross join lateral unnest(l.addresses) as a (dependency)
        ) as w
        where not exists (
            select
            from kl_internal.resources as o
            where o.state_id = p_states[2].id
                and o.closed_no is null
                and hashtextextended(o.config_address, 0) = hashtextextended(w.config_address, 0)
                and o.config_address = w.config_address
        )
            and w.config_address <> all (
                array(select (m.after).config_address from unnest(p_moves) as m)
            )
        order by w.path, w.config_address
        limit 100
    );
end;
$$;

comment on function kl_internal.move_warnings(
    kl_internal.states[], kl_internal.row_move[], kl_internal.resources[]
) is
'What moves leave behind, rewrite or will miss: said before and after they are made.';
