create or replace function kl.write_state(
    p_name      text,
    p_upload_id uuid,
    p_objects   bigint,
    p_digest    bytea,
    p_lock_id   text
)
returns table (
    outcome     text,
    version_id  uuid,
    version_no  bigint,
    serial      numeric,
    missing     text
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_state  kl_internal.states%rowtype;
    v_lock   kl_internal.state_locks%rowtype;
    v_origin kl_internal.write_origin;
begin
    perform kl_internal.authorize('state:write');
    v_state := kl_internal.lock_or_create_state(p_name, p_upload_id);
    v_lock := kl_internal.require_write_lock(v_state, p_lock_id);

    perform kl_internal.act_as(v_lock.who);
    v_origin.operation := v_lock.operation;
    v_origin.actor := coalesce(v_lock.who, kl_internal.current_actor());
    v_origin.source := case
        when v_lock.operation = 'OperationTypeApply' then 'apply'
        else 'http_backend'
    end;
    -- Force is not on the wire: the client checked, unless it was told not to.
    v_origin.forced := coalesce(
        v_lock.operation in ('state-push', 'migration destination state'),
        false
    );

    return query
    select c.outcome, c.version_id, c.version_no, c.serial, c.missing
    from kl_internal.commit_upload(v_state, p_upload_id, p_objects, p_digest, v_origin) as c;
end;
$$;

comment on function kl.write_state(text, uuid, bigint, bytea, text) is
'Make a staged document the next version of a state, as Terraform''s HTTP backend client writes it.

p_objects and p_digest: how many keys were staged and SHA-256 over their digests in order.
p_lock_id: the ID of the request. outcome: written, unchanged, incomplete (send missing, call
again), lost (stage again).
Locks: state row. Raises: KL001, KL102, KL302, KL303, KL304. Callers: server.';
