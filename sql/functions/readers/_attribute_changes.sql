create or replace function kl_internal.attribute_changes(
    p_old       jsonb,
    p_new       jsonb,
    p_old_shown jsonb,
    p_new_shown jsonb
)
returns jsonb
language sql
immutable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $$
    with recursive nodes (path, old, new, old_shown, new_shown, kind) as (
        select
            '',
            p_old,
            p_new,
            p_old_shown,
            p_new_shown,
            'object'
        union all
        select
            n.path || s.step,
            v.old,
            v.new,
            v.old_shown,
            v.new_shown,
            -- Further down only where all four are containers of one kind.
            case
                when jsonb_typeof(v.old) in ('object', 'array')
                    and jsonb_typeof(v.old) = jsonb_typeof(v.new)
                    and jsonb_typeof(v.old) = jsonb_typeof(v.old_shown)
                    and jsonb_typeof(v.old) = jsonb_typeof(v.new_shown) then jsonb_typeof(v.old)
            end
        from nodes as n
        cross join lateral (
            select
                case
                    when k.key !~ '^[A-Za-z_][A-Za-z0-9_-]*$' then '[' || to_json(k.key) || ']'
                    when n.path = '' then k.key
                    else '.' || k.key
                end as step,
                k.key,
                null::integer as position
            from (
                select jsonb_object_keys(n.old) as key
                where n.kind = 'object'
                union
                select jsonb_object_keys(n.new)
                where n.kind = 'object'
            ) as k
            union all
            select
                '[' || p.position || ']',
                null,
                p.position
            from generate_series(
                0,
                case
                    when n.kind = 'array' then
                        greatest(jsonb_array_length(n.old), jsonb_array_length(n.new)) - 1
                    else -1
                end
            ) as p (position)
        ) as s
        cross join lateral (
            select
                case when s.key is null then n.old -> s.position else n.old -> s.key end,
                case when s.key is null then n.new -> s.position else n.new -> s.key end,
                case
                    when s.key is null then n.old_shown -> s.position
                    else n.old_shown -> s.key
                end,
                case
                    when s.key is null then n.new_shown -> s.position
                    else n.new_shown -> s.key
                end
        ) as v (old, new, old_shown, new_shown)
        where n.kind is not null
            and v.old is distinct from v.new
    )
    select coalesce(
        jsonb_agg(
            jsonb_build_object('path', n.path)
                || case
                    when n.old is null then '{}'
                    else jsonb_build_object('old', coalesce(n.old_shown, '"(sensitive value)"'))
                end
                || case
                    when n.new is null then '{}'
                    else jsonb_build_object('new', coalesce(n.new_shown, '"(sensitive value)"'))
                end
            order by n.path collate "C"
        ),
        '[]'
    )
    from nodes as n
    where n.kind is null;
$$;

comment on function kl_internal.attribute_changes(jsonb, jsonb, jsonb, jsonb) is
'The paths at which two attribute objects differ, as [{"path", "old", "new"}]; absent: no member.

p_old_shown and p_new_shown are the same as an analyst sees them: a masked value is told apart, and
shown masked. Paths are written a.b[0]["odd key"].
Definer: a view calls it as its reader.';
