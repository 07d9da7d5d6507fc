create or replace function kl_internal.require_free(
    p_state     kl_internal.states,
    p_conflicts jsonb
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_plain kl_internal.state_locks%rowtype;
begin
    v_plain := kl_internal.terraform_lock(p_state.id);
    if v_plain.id is not null then
        perform kl_internal.raise_locked(v_plain);
    end if;

    if p_conflicts is not null then
        raise exception using
            errcode = 'KL301',
            message = format(
                'what is to change is reserved by %s until %s; wait for it to end; nothing was '
                    || 'stored',
                coalesce(p_conflicts #>> '{0,holder}', 'another run'),
                p_conflicts #>> '{0,expires_at}'
            ),
            detail = jsonb_build_object('conflicts', p_conflicts)::text;
    end if;
end;
$$;

comment on function kl_internal.require_free(kl_internal.states, jsonb) is
'Check that no plain lock and no reservation stands against an operation on a locked state row.

p_conflicts: the reservations that do. Raises: KL301, KL303.';
