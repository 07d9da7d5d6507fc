create or replace function kl_internal.raise_conflicts(
    p_state_id uuid,
    p_apply_id uuid,
    p_paths    text[],
    p_modes    text[]
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_most      constant integer := 100;
    v_conflicts jsonb;
    v_count     bigint;
    v_wait      interval;
begin
    select
        count(*),
        min(c.expires_at) - kl_internal.clock(),
        jsonb_agg(
            jsonb_build_object(
                'address_glob', c.address_glob,
                'mode', c.mode,
                'holder', c.holder,
                'apply_id', c.apply_id,
                'expires_at', kl_internal.wire_time(c.expires_at),
                'widened', c.widened
            )
            order by c.ordinal
        ) filter (where c.ordinal <= v_most)
    into v_count, v_wait, v_conflicts
    from (
        select s.*, row_number() over (order by s.path, s.id) as ordinal
        from kl_internal.scope_conflicts(p_state_id, p_apply_id, p_paths, p_modes) as s
    ) as c;

    if v_count = 0 then
        return;
    end if;

    raise exception using
        errcode = 'KL301',
        message = format(
            '%s is reserved (%s) by %s until %s%s; wait, and ask again',
            v_conflicts #>> '{0,address_glob}',
            v_conflicts #>> '{0,mode}',
            coalesce(v_conflicts #>> '{0,holder}', 'somebody'),
            v_conflicts #>> '{0,expires_at}',
            case when v_count > 1 then format(', and %s more', v_count - 1) else '' end
        ),
        detail = jsonb_build_object(
            'conflicts', v_conflicts,
            'conflict_count', v_count,
            'first_expires_in_ms', ceil(extract(epoch from v_wait) * 1000),
            'state_id', p_state_id
        )::text;
end;
$$;

comment on function kl_internal.raise_conflicts(uuid, uuid, text[], text[]) is
'Refuse scopes (paths, with their modes) that live reservations of others meet.

DETAIL has the first hundred, and when the first of all ends. Raises: KL301.';
