create or replace function kl_internal.scope_notes(
    p_items   kl_internal.scope_item[],
    p_hints   text[],
    p_needs   kl_internal.scope_need[],
    p_written kl_internal.scope_object[],
    p_absent  kl_internal.scope_absence[]
)
returns table (is_wide boolean, note text)
language plpgsql
stable
rows 10
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select
        true,
        format(
            '%s: all %s instances are in the scope, as stored dependencies have no instance keys',
            n.config_address,
            count(distinct (n.object).path)
        ) || case
            when n.config_address ~ '^module\.' and n.within = '' then
                '; module_calls with self_contained narrows what is inside one module call'
            else ''
        end
    from unnest(p_needs) as n
    left join unnest(p_written) as w on w.id = (n.object).id
    where (n.object).id is not null
    group by n.config_address, n.within
    having count(distinct (n.object).path) > 1
        and bool_or(w.id is null)
    union all
    select true, i.note
    from unnest(p_items) as i
    where i.note is not null
        and i.role <> 'undeployed'
    union all
    select
        false,
        format('the scope depends on %s, which is to be created: it is in the writes', a.address)
    from unnest(p_absent) as a
    where a.planned
        and not a.asked
    union all
    select
        false,
        format('%s is only a hint: a state does not know files; name addresses or modules', h.value)
    from unnest(p_hints) as h (value);
end;
$$;

comment on function kl_internal.scope_notes(
    kl_internal.scope_item[], text[], kl_internal.scope_need[], kl_internal.scope_object[],
    kl_internal.scope_absence[]
) is
'What a person should know of a scope. is_wide: it holds more than it needs, or may.

Of a dependency with several instances all are taken, because nobody can tell which are meant; what
is written whole is not wide.';
