create or replace function kl.import_state(
    p_name      text,
    p_upload_id uuid,
    p_objects   bigint,
    p_digest    bytea,
    p_source    text
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
    v_origin kl_internal.write_origin;
begin
    if p_source is null or p_source not in ('import', 'apply', 'refresh') then
        raise exception using
            errcode = 'KL001',
            message = format(
                'source %s is none of import, apply, refresh',
                coalesce(to_json(p_source)::text, 'null')
            ),
            detail = jsonb_build_object('source', p_source)::text;
    end if;

    -- An apply clears drift, so saying so needs more than the right to write.
    perform kl_internal.authorize(
        case when p_source = 'apply' then 'admin' else 'state:write' end
    );
    v_state := kl_internal.lock_or_create_state(p_name, p_upload_id);
    perform kl_internal.require_write_lock(v_state, null);

    v_origin.actor := kl_internal.current_actor();
    v_origin.source := p_source;
    v_origin.forced := false;

    return query
    select c.outcome, c.version_id, c.version_no, c.serial, c.missing
    from kl_internal.commit_upload(v_state, p_upload_id, p_objects, p_digest, v_origin) as c;
end;
$$;

comment on function kl.import_state(text, uuid, bigint, bytea, text) is
'Make a staged document the next version of a state, with that source: import, apply or refresh.

Arguments and outcome as kl.write_state. source apply needs the admin right.
Locks: state row. Raises: KL001, KL102, KL302, KL303. Callers: server, CLI.';
