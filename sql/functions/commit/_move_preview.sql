create or replace function kl_internal.move_preview(
    p_states     kl_internal.states[],
    p_moves      kl_internal.row_move[],
    p_dependents kl_internal.resources[],
    p_conflicts  jsonb[]
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_is_one  boolean := p_states[1].id = p_states[2].id;
    v_objects jsonb;
begin
    select jsonb_agg(
        jsonb_build_object(
            'address', (m.before).address,
            'to', (m.after).address,
            'deposed_key', nullif((m.before).deposed, '')
        )
        order by (m.before).path
    )
    into v_objects
    from unnest(p_moves) as m;

    return kl_internal.operation_preview(
        'move', p_states[1], v_objects, p_dependents, p_conflicts[1],
        kl_internal.move_warnings(p_states, p_moves, p_dependents)
    ) || case
        when v_is_one then '{}'
        else jsonb_build_object(
            'to_state', kl_internal.qualified_name(p_states[2].environment_id, p_states[2].name),
            'to_conflicts', coalesce(p_conflicts[2], '[]')
        )
    end;
end;
$$;

comment on function kl_internal.move_preview(
    kl_internal.states[], kl_internal.row_move[], kl_internal.resources[], jsonb[]
) is
'What moves would do, or did, as the answer shows it.';
