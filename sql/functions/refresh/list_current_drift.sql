-- requires: readers/state_id, refresh/current_resource_drift.view
create or replace function kl.list_current_drift(p_state text, p_limit integer)
returns table (
    address              text,
    type                 text,
    drift_kind           text,
    changes              jsonb,
    current_attributes   jsonb,
    previous_attributes  jsonb,
    detected_at_serial   numeric,
    detected_at          timestamptz,
    refresh_run_id       uuid,
    acknowledged_reason  text,
    deposed_key          text
)
language sql
stable
as $$
    select
        d.address,
        d.type,
        d.drift_kind,
        d.changes,
        d.current_attributes,
        d.previous_attributes,
        d.detected_at_serial,
        d.detected_at,
        d.refresh_run_id,
        d.acknowledged_reason,
        d.deposed_key
    from kl.current_resource_drift as d
    where d.state_id = (select kl.state_id(p_state))
        and (select kl.state_id(p_state)) is not null  -- asked even where there is no row
    order by d.path
    limit p_limit;
$$;

comment on function kl.list_current_drift(text, integer) is
'The drift of one state that no apply has settled, with the attribute paths that differ.

In document order; p_limit null: all of it.
Locks: none. Raises: KL001, KL101, KL102, KL201. Callers: analysts, server, CLI.';
