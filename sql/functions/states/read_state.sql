create or replace function kl.read_state(p_name text, p_version text default 'current')
returns table (
    state_id      uuid,
    version_id    uuid,
    version_no    bigint,
    serial        numeric,
    lineage       text,
    opaque        boolean,
    object_count  bigint,
    head          text,
    tail          text
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_state   kl_internal.states%rowtype;
    v_version kl_internal.state_versions%rowtype;
begin
    v_state := kl_internal.require_state(p_name, 'outputs:read');
    if p_version is distinct from 'current' then
        perform kl_internal.authorize('state:read');
    end if;

    v_version := kl_internal.resolve_version(v_state, p_version);
    if not kl_internal.has_scope('state:read') then
        -- Enough for terraform_remote_state: lineage, serial and outputs of a state like any other.
        if v_version.opaque then
            perform kl_internal.authorize('state:read');
        end if;
        v_version.object_count := 0;
        v_version.check_results := 'null';
        v_version.extra := null;
    end if;

    return query
    select
        v_state.id,
        v_version.id,
        v_version.version_no,
        v_version.serial,
        v_version.lineage,
        v_version.opaque,
        v_version.object_count,
        e.head,
        e.tail
    from kl_internal.render_envelope(v_version) as e;
end;
$$;

comment on function kl.read_state(text, text) is
'What surrounds the resources of a state document at a version: head, then pages, then tail.

The resources come from kl.read_state_page, those of an opaque version from kl.read_opaque_page.
p_version: current, @N, a serial, vN, a version id, a timestamp. A caller with outputs:read only
gets lineage, serial and outputs of the current version: object_count is 0, pages are refused.
Locks: none. Raises: KL001, KL102, KL201, KL202. Callers: server, CLI.';
