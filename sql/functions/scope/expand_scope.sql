create or replace function kl.expand_scope(
    p_name           text,
    p_selectors      jsonb,
    p_client_context jsonb,
    p_require_safe   boolean
)
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan  -- planning would take longer than the work
as $$
declare
    v_started  timestamptz := clock_timestamp();
    v_state    kl_internal.states%rowtype;
    v_version  kl_internal.state_versions%rowtype;
    v_items    kl_internal.scope_item[];
    v_from     text[];
    v_to       text[];
    v_contract record;
    v_verdict  jsonb;
begin
    v_state := kl_internal.require_state(p_name, 'state:read');
    v_version := kl_internal.require_rows(v_state);
    if coalesce(jsonb_typeof(p_client_context), 'null') not in ('object', 'null') then
        raise exception using
            errcode = 'KL001',
            message = 'the request is wrong at /client_context: it is not an object',
            detail = jsonb_build_object('pointer', '/client_context')::text;
    end if;

    v_items := array(
        select i
        from kl_internal.scope_items(v_state.id, p_selectors, p_client_context) as i
    );
    select coalesce(array_agg(n.config_address), '{}'), coalesce(array_agg(n.depends_on), '{}')
    into v_from, v_to
    from kl_internal.scope_nodes(p_client_context) as n;

    select c.lists, c.verdict
    into v_contract
    from kl_internal.scope_contract(
        v_state.id,
        v_items,
        array(
            select s.value
            from kl_internal.scope_selectors(p_selectors) as s
            where s.kind = 'file_hint'
        ),
        v_from,
        v_to,
        kl_internal.self_contained_calls(p_client_context)
    ) as c;
    v_verdict := v_contract.verdict;

    if p_require_safe and v_verdict ->> 'confidence' <> 'safe' then
        raise exception using
            errcode = 'KL401',
            message = format(
                'the scope is %s: %s', v_verdict ->> 'confidence', v_verdict #>> '{notes,0}'
            ),
            detail = jsonb_build_object(
                'confidence', v_verdict -> 'confidence',
                'missing', (v_contract.lists).unknown::jsonb,
                'culprits', v_verdict -> 'culprits',
                'notes', v_verdict -> 'notes'
            )::text;
    end if;

    return kl_internal.scope_document(v_state, v_version, v_contract.lists, v_verdict, v_started);
end;
$$;

comment on function kl.expand_scope(text, jsonb, jsonb, boolean) is
'The scope of a native write: what it writes, all that needs, what to reserve, and how sure that is,
as JSON text.

p_selectors: [{"kind", "value"}]. p_client_context: what the client knows of its configuration. One
snapshot; docs/protocol.md has the members of both, and of the answer. confidence is safe, widened
(more than needed, or maybe) or unsafe (nobody can tell; culprits says why). p_require_safe: raise
instead unless it is safe. A name without key stands for all instances.
Locks: none. Raises: KL001, KL002, KL101, KL102, KL201, KL401. Callers: server, CLI.';
