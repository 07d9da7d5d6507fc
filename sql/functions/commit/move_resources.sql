create or replace function kl.move_resources(
    p_name    text,
    p_moves   jsonb,
    p_to_name text,
    p_apply   boolean,
    p_actor   text
)
returns table (
    preview              jsonb,
    committed_serial     numeric,
    new_version_id       uuid,
    to_committed_serial  numeric,
    to_version_id        uuid
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_actor      text := coalesce(p_actor, kl_internal.current_actor());
    v_states     kl_internal.states[];
    v_moves      kl_internal.row_move[];
    v_dependents kl_internal.resources[];
    v_conflicts  jsonb[];
    v_draft      kl_internal.state_versions%rowtype;
    v_to_draft   kl_internal.state_versions%rowtype;
begin
    v_states := kl_internal.lock_two_states(p_name, coalesce(p_to_name, p_name), p_apply);
    v_moves := kl_internal.planned_moves(v_states[1].id, v_states[2].id, p_moves);
    v_dependents := kl_internal.dependents_of(
        v_states[1].id,
        array(
            select distinct (m.before).config_address
            from unnest(v_moves) as m
            where v_states[1].id <> v_states[2].id
                or (m.before).config_address <> (m.after).config_address
        ),
        array(select m.before from unnest(v_moves) as m)
    );
    v_conflicts := kl_internal.move_conflicts(v_states, v_moves, v_dependents);

    if p_apply then
        perform kl_internal.require_free(v_states[1], v_conflicts[1]);
        perform kl_internal.require_free(v_states[2], v_conflicts[2]);
        if v_states[1].id = v_states[2].id then
            v_draft := kl_internal.move_within(v_states[1], v_moves, v_dependents, v_actor);
        else
            v_draft := kl_internal.replace_rows(
                kl_internal.successor_version(v_states[1], 'move', v_actor),
                array(select m.before from unnest(v_moves) as m),
                '{}'
            );
            v_to_draft := kl_internal.move_into(v_states[1], v_states[2], v_moves, v_actor);
        end if;
    end if;

    return query
    select
        kl_internal.move_preview(v_states, v_moves, v_dependents, v_conflicts),
        v_draft.serial, v_draft.id, v_to_draft.serial, v_to_draft.id;
end;
$$;

comment on function kl.move_resources(text, jsonb, text, boolean, text) is
'Give objects other addresses in their state or in another, without touching what they stand for.

p_moves: [{"address", "to"}], all made at once; a whole resource moves to a whole resource, its
instances with their keys. Dependencies that name what moves are rewritten, and never is anything
overwritten. p_to_name: the other state; null for the same. p_apply false: only say what would
happen (state:read is enough).
Locks: state rows, in the order of their ids. Raises: KL001, KL002 (encrypted by the client), KL003,
KL101, KL102, KL201, KL203, KL301, KL303. Callers: server, CLI.';
