create or replace function kl_internal.move_conflicts(
    p_states     kl_internal.states[],
    p_moves      kl_internal.row_move[],
    p_dependents kl_internal.resources[]
)
returns jsonb[]
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_is_one boolean := p_states[1].id = p_states[2].id;
    v_from   text[];
    v_to     text[];
begin
    -- Instances, or the whole resource where that moves; the objects that would be rewritten.
    select
        array_agg(
            case when m.is_whole then f.path else split_part((m.before).path, E'\x07', 1) end
        ),
        array_agg(
            case when m.is_whole then t.path else split_part((m.after).path, E'\x07', 1) end
        )
    into v_from, v_to
    from unnest(p_moves) as m
    cross join lateral (
        select (regexp_match((m.before).path, E'^(.*\x05[^\x01]*\x01[^\x01]*\x01)'))[1] as path
    ) as f
    cross join lateral (
        select (regexp_match((m.after).path, E'^(.*\x05[^\x01]*\x01[^\x01]*\x01)'))[1] as path
    ) as t;

    if v_is_one then
        v_from := v_from || v_to || array(
            select split_part(d.path, E'\x07', 1)
            from unnest(p_dependents) as d
        );
    end if;

    return array[
        kl_internal.others_scopes(p_states[1].id, null, v_from),
        case when not v_is_one then kl_internal.others_scopes(p_states[2].id, null, v_to) end
    ];
end;
$$;

comment on function kl_internal.move_conflicts(
    kl_internal.states[], kl_internal.row_move[], kl_internal.resources[]
) is
'The live reservations that stand against moves: in the state they leave, and in the other one.';
