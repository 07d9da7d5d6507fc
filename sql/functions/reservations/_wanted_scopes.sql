create or replace function kl_internal.wanted_scopes(
    p_state_id        uuid,
    p_want            jsonb,
    p_unkeyed_modules text[]
)
returns table (
    ordinal       bigint,
    address_glob  text,
    mode          text,
    path          text,
    widened       boolean,
    note          text
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_wrong bigint;
begin
    if jsonb_typeof(p_want) is distinct from 'array' then
        raise exception using
            errcode = 'KL001',
            message = 'want is a list of {"address_glob": TEXT, "mode": "read" or "write"}',
            detail = jsonb_build_object('pointer', '/want')::text;
    end if;

    select min(w.ordinal) - 1
    into v_wrong
    from jsonb_array_elements(p_want) with ordinality as w (item, ordinal)
    where jsonb_typeof(w.item -> 'address_glob') is distinct from 'string'
        or coalesce(w.item ->> 'mode', '') not in ('read', 'write');

    if v_wrong is not null then
        raise exception using
            errcode = 'KL001',
            message = format(
                'wanted scope %s is not {"address_glob": TEXT, "mode": "read" or "write"}', v_wrong
            ),
            detail = jsonb_build_object('pointer', '/want/' || v_wrong)::text;
    end if;

    return query
    with wanted as (
        select w.ordinal, w.item ->> 'address_glob' as address_glob, w.item ->> 'mode' as mode
        from jsonb_array_elements(p_want) with ordinality as w (item, ordinal)
    ),
    globs as materialized (
        select array_agg(distinct w.address_glob) as all_of_them
        from wanted as w
    ),
    plain as materialized (
        -- Short, and every module step has a key: the scope is the address.
        select g.all_of_them[a.ordinal] as address_glob, a.path
        from globs as g
        cross join lateral kl_internal.plain_addresses(g.all_of_them) as a
        where strpos(a.module_path, E'\x01\x02') = 0
    ),
    scopes as materialized (
        select p.address_glob, p.path, false as widened, null as note
        from plain as p
        union all
        select o.address_glob, s.path, s.widened, s.note
        from (
            select g.address_glob
            from globs
            cross join lateral unnest(globs.all_of_them) as g (address_glob)
            except
            select p.address_glob
            from plain as p
        ) as o
        cross join lateral kl_internal.scope_path(
            p_state_id, o.address_glob, p_unkeyed_modules
        ) as s
    )
    select w.ordinal, w.address_glob, w.mode, s.path, s.widened, s.note
    from wanted as w
    inner join scopes as s on s.address_glob = w.address_glob;
exception
    when sqlstate 'KL001' then
        if jsonb_typeof(p_want) = 'array' and v_wrong is null then
            perform kl_internal.refuse_address(
                array(
                    select w.item ->> 'address_glob'
                    from jsonb_array_elements(p_want) with ordinality as w (item, ordinal)
                    order by w.ordinal
                ),
                'glob',
                '/want/%s/address_glob'
            );
            perform kl_internal.refuse_address(
                p_unkeyed_modules, 'module', '/unkeyed_modules/%s'
            );
        end if;
        raise;
end;
$$;

comment on function kl_internal.wanted_scopes(uuid, jsonb, text[]) is
'What a client wants to reserve, with the path of each scope.

Raises: KL001.';
