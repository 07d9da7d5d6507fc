create or replace function kl.remove_resources(
    p_name      text,
    p_addresses text[],
    p_apply     boolean,
    p_actor     text
)
returns table (preview jsonb, committed_serial numeric, new_version_id uuid)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_state      kl_internal.states%rowtype;
    v_draft      kl_internal.state_versions%rowtype;
    v_removed    kl_internal.resources[];
    v_dependents kl_internal.resources[];
    v_conflicts  jsonb;
    v_preview    jsonb;
begin
    v_state := kl_internal.lock_for_operation(p_name, p_apply);
    v_removed := kl_internal.objects_at(v_state.id, p_addresses);
    v_dependents := kl_internal.dependents_of(
        v_state.id,
        array(select distinct r.config_address from unnest(v_removed) as r),
        v_removed
    );
    v_conflicts := kl_internal.others_scopes(
        v_state.id,
        null,
        array(
            select (kl_internal.parse_address(a.address)).path
            from unnest(p_addresses) as a (address)
        )
    );
    v_preview := kl_internal.operation_preview(
        'remove',
        v_state,
        kl_internal.listed_objects(v_removed),
        v_dependents,
        v_conflicts,
        case
            when cardinality(v_dependents) = 0 then '{}'
            else array[format(
                '%s objects depend on what is removed; their dependencies keep the address',
                cardinality(v_dependents)
            )]
        end
    );

    if p_apply is not true then
        return query select v_preview, null::numeric, null::uuid;
        return;
    end if;

    perform kl_internal.require_free(v_state, v_conflicts);
    v_draft := kl_internal.successor_version(
        v_state, 'remove', coalesce(p_actor, kl_internal.current_actor())
    );
    v_draft := kl_internal.replace_rows(v_draft, v_removed, '{}');
    return query select v_preview, v_draft.serial, v_draft.id;
end;
$$;

comment on function kl.remove_resources(text, text[], boolean, text) is
'Take objects out of a state, at exact addresses, without touching what they stand for.

Without a key an address means all instances of its resource; deposed objects go along. p_apply
false: only say what would happen (state:read is enough).
Locks: state row. Raises: KL001, KL002 (encrypted by the client), KL003, KL101, KL102, KL201, KL203,
KL301, KL303. Callers: server, CLI.';
