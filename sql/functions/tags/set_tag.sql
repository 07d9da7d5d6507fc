create or replace function kl.set_tag(p_state text, p_tag text, p_version text default 'current')
returns table (version_no bigint, previous_version_no bigint)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_state    kl_internal.states%rowtype;
    v_version  kl_internal.state_versions%rowtype;
    v_previous bigint;
begin
    v_state := kl_internal.require_state(p_state, 'state:write');
    perform kl_internal.require_tag_name(p_tag);
    v_version := kl_internal.resolve_version(v_state, p_version);

    -- Two who set one tag take turns.
    perform
    from kl_internal.states as s
    where s.id = v_state.id
    for update;

    select t.version_no
    into v_previous
    from kl_internal.version_tags as t
    where t.state_id = v_state.id
        and t.name = p_tag;

    insert into kl_internal.version_tags as t (
        state_id, name, version_no, actor, principal, created_at
    )
    values (
        v_state.id,
        p_tag,
        v_version.version_no,
        kl_internal.current_actor(),
        kl_internal.current_principal(),
        kl_internal.clock()
    )
    on conflict (state_id, name) do update
    set version_no = excluded.version_no,
        actor = excluded.actor,
        principal = excluded.principal,
        created_at = excluded.created_at;

    perform kl_internal.record_event(
        v_state.id,
        v_state.name,
        'tag_set',
        jsonb_build_object(
            'tag', p_tag,
            'version_no', v_version.version_no,
            'previous_version_no', v_previous
        )
    );

    return query select v_version.version_no, v_previous;
end;
$$;

comment on function kl.set_tag(text, text, text) is
'Name a version of a state; a tag that is there already moves. Null: it named nothing before.

Locks: state row. Raises: KL001, KL101, KL102, KL201, KL202. Callers: server, CLI.';
