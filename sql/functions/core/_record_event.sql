-- requires: auth/_current_actor, auth/_current_principal, core/_clock
create or replace function kl_internal.record_event(
    p_state_id   uuid,
    p_state_name text,
    p_kind       text,
    p_detail     jsonb
)
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    insert into kl_internal.events (
        occurred_at, state_id, state_name, kind, actor, principal, detail
    )
    values (
        kl_internal.clock(),
        p_state_id,
        p_state_name,
        p_kind,
        kl_internal.current_actor(),
        kl_internal.current_principal(),
        p_detail
    );
$$;

comment on function kl_internal.record_event(uuid, text, text, jsonb) is
'Add one line to the audit trail.';
