create or replace function kl.rollback_resource(
    p_name    text,
    p_address text,
    p_to      text,
    p_apply   boolean,
    p_actor   text
)
returns table (preview jsonb, committed_serial numeric, new_version_id uuid)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_state     kl_internal.states%rowtype;
    v_version   kl_internal.state_versions%rowtype;
    v_draft     kl_internal.state_versions%rowtype;
    v_conflicts jsonb;
    v_preview   jsonb;
    v_closed    kl_internal.resources[];
    v_opened    kl_internal.resources[];
    v_actions   text[];
begin
    v_state := kl_internal.lock_for_operation(p_name, p_apply);
    v_version := kl_internal.resolve_version(v_state, p_to);
    perform kl_internal.refuse_opaque(v_version);

    perform kl_internal.refuse_address(array[p_address], 'address', '/address');

    select
        coalesce(array_agg(r.before) filter (where r.action in ('replace', 'remove')), '{}'),
        coalesce(array_agg(r.after) filter (where r.action in ('replace', 'restore')), '{}'),
        array_agg(distinct r.action)
    into v_closed, v_opened, v_actions
    from kl_internal.rolled_back_rows(v_state.id, p_address, v_version.version_no) as r;

    if v_actions is null then
        raise exception using
            errcode = 'KL203',
            message = format('neither the state nor version %s has %s', p_to, p_address),
            detail = jsonb_build_object('addresses', array[p_address])::text;
    end if;

    v_conflicts := kl_internal.others_scopes(
        v_state.id, null, array[(kl_internal.parse_address(p_address)).path]
    );
    v_preview := kl_internal.rollback_preview(
        v_state, v_version, p_address, v_closed, v_opened, v_conflicts
    );

    if p_apply then
        perform kl_internal.require_free(v_state, v_conflicts);
    end if;

    if p_apply and cardinality(v_closed || v_opened) > 0 then
        v_draft := kl_internal.replace_rows(
            kl_internal.successor_version(
                v_state, 'rollback', coalesce(p_actor, kl_internal.current_actor())
            ),
            v_closed,
            v_opened
        );
        perform kl_internal.require_sibling_providers(
            v_state.id, v_draft.version_no, array(select r.path from unnest(v_opened) as r)
        );
    end if;

    return query select v_preview, v_draft.serial, v_draft.id;
end;
$$;

comment on function kl.rollback_resource(text, text, text, boolean, text) is
'Bring the objects at one exact address back to what they were at a version, as a new version.

p_to: a version reference. Deposed objects go along; without a key the address means all instances.
When nothing differs there is no new version, and serial and id are null. p_apply false: only say
what would happen (state:read is enough). No cloud object is touched.
Locks: state row. Raises: KL001, KL002 (encrypted by the client), KL003, KL101, KL102, KL201, KL202,
KL203, KL301, KL303. Callers: server, CLI.';
