create or replace function kl.list_apply_runs(p_name text, p_limit integer, p_before uuid)
returns table (
    id                 uuid,
    state_id           uuid,
    from_version_id    uuid,
    actor              text,
    status             text,
    source_serial      numeric,
    started_at         timestamptz,
    to_version_id      uuid,
    committed_serial   numeric,
    resources_planned  integer,
    resources_applied  integer,
    error_summary      text,
    finished_at        timestamptz
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_state  kl_internal.states%rowtype := kl_internal.require_state(p_name, 'state:read');
    v_before kl_internal.apply_runs%rowtype;
begin
    if p_limit is null or p_limit not between 1 and 1000 then
        raise exception using
            errcode = 'KL001',
            message = 'a page has 1 to 1000 runs',
            detail = jsonb_build_object('pointer', '/limit')::text;
    end if;

    if p_before is not null then
        v_before := kl_internal.find_apply_run(p_before, 'state:read');
    end if;

    return query
    select
        a.id,
        a.state_id,
        a.from_version_id,
        a.actor,
        a.status,
        a.source_serial,
        a.started_at,
        a.to_version_id,
        a.committed_serial,
        a.resources_planned,
        a.resources_applied,
        a.error_summary,
        a.finished_at
    from kl_internal.apply_runs as a
    where a.state_id = v_state.id
        and (
            p_before is null
            or (a.started_at, a.id) < (v_before.started_at, v_before.id)
        )
    order by a.started_at desc, a.id desc
    limit p_limit;
end;
$$;

comment on function kl.list_apply_runs(text, integer, uuid) is
'The native applies of a state, the newest first.

p_before: the last one of the page before; null for the first page.
Locks: none. Raises: KL001, KL101, KL102, KL201, KL204. Callers: server, CLI.';
