create or replace function kl_internal.move_into(
    p_from  kl_internal.states,
    p_to    kl_internal.states,
    p_moves kl_internal.row_move[],
    p_actor text
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
        kl_internal.successor_version(p_to, 'move', p_actor),
        '{}',
        kl_internal.rewritten_rows(
            p_from.id, p_to.id, array(select m.after from unnest(p_moves) as m), p_moves
        )
    );
    perform kl_internal.require_sibling_providers(
        p_to.id, v_draft.version_no, array(select (m.after).path from unnest(p_moves) as m)
    );
    return v_draft;
end;
$$;

comment on function kl_internal.move_into(
    kl_internal.states, kl_internal.states, kl_internal.row_move[], text
) is
'Open in one state what moves there from another; both rows are locked: the new version.

Raises: KL001 (the target resource has another provider).';
