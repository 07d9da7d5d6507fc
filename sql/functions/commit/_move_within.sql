create or replace function kl_internal.move_within(
    p_state      kl_internal.states,
    p_moves      kl_internal.row_move[],
    p_dependents kl_internal.resources[],
    p_actor      text
)
returns kl_internal.state_versions
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_draft kl_internal.state_versions%rowtype;
begin
    v_draft := kl_internal.replace_rows(
        kl_internal.successor_version(p_state, 'move', p_actor),
        array(select m.before from unnest(p_moves) as m) || p_dependents,
        kl_internal.rewritten_rows(
            p_state.id,
            p_state.id,
            array(select m.after from unnest(p_moves) as m) || p_dependents,
            p_moves
        )
    );
    perform kl_internal.require_sibling_providers(
        p_state.id, v_draft.version_no, array(select (m.after).path from unnest(p_moves) as m)
    );
    return v_draft;
end;
$$;

comment on function kl_internal.move_within(
    kl_internal.states, kl_internal.row_move[], kl_internal.resources[], text
) is
'Make moves inside a state whose row is locked, rewriting what depends on them: the new version.

Raises: KL001 (the target resource has another provider).';
