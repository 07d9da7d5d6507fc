-- requires: readers/known_path
-- requires: readers/state_id
-- requires: refresh/drift_findings.view
create or replace function kl.drift_history(p_state text, p_address text default null)
returns table (
    address              text,
    deposed_key          text,
    type                 text,
    drift_kind           text,
    changes              jsonb,
    found_version_no     bigint,
    found_serial         numeric,
    found_at             timestamptz,
    refresh_run_id       uuid,
    found_by             text,
    cleared_by           text,
    cleared_at           timestamptz,
    settled_version_no   bigint,
    settled_by           text,
    settled_run_id       uuid,
    settled_actor        text,
    acknowledged_reason  text,
    acknowledged_by      text,
    acknowledged_at      timestamptz
)
language sql
stable
as $$
    with place as materialized (
        select
            kl.state_id(p_state) as state_id,
            case when p_address is null then '' else kl.known_path(p_state, p_address) end as low
    )
    select
        f.address,
        f.deposed_key,
        f.type,
        f.drift_kind,
        f.changes,
        f.found_version_no,
        f.found_serial,
        f.found_at,
        f.refresh_run_id,
        f.found_by,
        f.cleared_by,
        f.cleared_at,
        f.settled_version_no,
        f.settled_by,
        f.settled_run_id,
        f.settled_actor,
        f.acknowledged_reason,
        f.acknowledged_by,
        f.acknowledged_at
    from place as p
    cross join lateral (
        select d.*
        from kl.drift_findings as d
        where d.state_id = p.state_id
            and d.path >= p.low
            and (p.low = '' or d.path < p.low || E'\x08')
        offset 0  -- so that the conditions go down into the view
    ) as f
    order by f.path, f.found_version_no;
$$;

comment on function kl.drift_history(text, text) is
'Every drift that refreshes ever found in a state: which run, what kind, and what cleared it.

p_address: of one resource; without a key, of all its instances; null for the whole state.
cleared_by: apply, refresh (a later one found something else), acknowledgement, or the source of
another write there; null while nothing has.
Raises: KL001, KL101, KL102, KL201, KL203. Callers: analysts, server, CLI.';
