create or replace function kl.acquire_reservations(
    p_name            text,
    p_apply_id        uuid,
    p_holder          text,
    p_lease           interval,
    p_want            jsonb,
    p_unkeyed_modules text[]
)
returns table (
    address_glob  text,
    mode          text,
    expires_at    timestamptz,
    widened       boolean,
    note          text
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_state  kl_internal.states%rowtype;
    v_run    kl_internal.apply_runs%rowtype;
    v_now    timestamptz;
    v_until  timestamptz;
    v_wanted record;
begin
    v_state := kl_internal.lock_run_state(p_name, p_apply_id);
    perform kl_internal.clear_dead_leases(v_state.id);
    v_run := kl_internal.require_apply_run(p_apply_id, 'state:write');
    v_now := kl_internal.clock();
    v_until := kl_internal.lease_end(p_lease);

    select
        coalesce(array_agg(w.address_glob order by w.ordinal), '{}') as globs,
        coalesce(array_agg(w.mode order by w.ordinal), '{}') as modes,
        coalesce(array_agg(w.path order by w.ordinal), '{}') as paths,
        coalesce(array_agg(w.widened order by w.ordinal), '{}') as widenings,
        coalesce(array_agg(w.note order by w.ordinal), '{}') as notes
    into v_wanted
    from kl_internal.wanted_scopes(v_state.id, p_want, p_unkeyed_modules) as w;

    perform kl_internal.raise_conflicts(v_state.id, v_run.id, v_wanted.paths, v_wanted.modes);

    -- What the run holds already is held longer; the rest comes in path order.
    update kl_internal.resource_reservations as r
    set expires_at = greatest(r.expires_at, v_until)
    from unnest(v_wanted.paths, v_wanted.modes) as w (path, mode)
    where r.apply_id = v_run.id
        and r.path = w.path
        and r.mode = w.mode;

    insert into kl_internal.resource_reservations (
        id, state_id, apply_id, address_glob, mode, holder, principal, acquired_at, expires_at,
        path, scope, occupancy, widened
    )
    overriding system value
    select
        n.id,
        v_state.id,
        v_run.id,
        w.address_glob,
        w.mode,
        coalesce(nullif(p_holder, ''), v_run.actor),
        v_run.principal,
        v_now,
        v_until,
        w.path,
        kl_internal.scope_range(w.path),
        case w.mode when 'write' then int8range(null, null) else int8range(n.id, n.id, '[]') end,
        w.widened
    from (
        select distinct on (w.path collate "C", w.mode) w.*
        from unnest(v_wanted.globs, v_wanted.modes, v_wanted.paths, v_wanted.widenings)
            with ordinality as w (address_glob, mode, path, widened, ordinal)
        order by w.path collate "C", w.mode, w.widened, w.ordinal
    ) as w
    cross join lateral (
        select nextval('kl_internal.resource_reservations_id_seq') as id
        where w.path is not null  -- one for each
    ) as n
    where not exists (
        select
        from kl_internal.resource_reservations as r
        where r.apply_id = v_run.id
            and r.path = w.path
            and r.mode = w.mode
    )
    order by w.path collate "C";

    return query
    select w.address_glob, w.mode, h.expires_at, w.widened, w.note
    from unnest(
            v_wanted.globs, v_wanted.modes, v_wanted.paths, v_wanted.widenings, v_wanted.notes
        ) with ordinality as w (address_glob, mode, path, widened, note, ordinal)
    inner join kl_internal.resource_reservations as h
        on h.apply_id = v_run.id
        and h.path = w.path
        and h.mode = w.mode
    order by w.ordinal;
end;
$$;

comment on function kl.acquire_reservations(text, uuid, text, interval, jsonb, text[]) is
'Reserve scopes of a state for a running apply, all or none: [{"address_glob": …, "mode": …}].

address_glob: "*", a module, a resource, an instance. widened, with a note: more is taken than it
names. p_unkeyed_modules: module calls that the client knows to have no key. Own scopes never
conflict; what is held already gets the longer lease. DETAIL of KL301 has the conflicts.
Locks: state row, then its reservations in path order.
Raises: KL001, KL101, KL102, KL201, KL204, KL301, KL306. Callers: server, CLI.';
