-- requires: states/state_versions.view
create or replace function kl.raw_state(p_version kl.state_versions)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_version  kl_internal.state_versions%rowtype;
    v_bytes    numeric;
    v_document text;
begin
    select v.*
    into v_version
    from kl_internal.state_versions as v
    inner join kl_internal.visible_states as s on s.id = v.state_id
    where v.id = p_version.version_id;

    -- Anybody can write down a row with a version's id.
    if v_version.id is null then
        raise exception using
            errcode = 'KL202',
            message = format('there is no version %s', p_version.version_id),
            detail = jsonb_build_object('version_id', p_version.version_id)::text;
    end if;

    select coalesce(sum(pg_column_size(r.attributes)), 0)
    into v_bytes
    from kl_internal.resources as r
    where r.state_id = v_version.state_id
        and r.opened_no <= v_version.version_no
        and (r.closed_no is null or r.closed_no > v_version.version_no);

    if v_bytes > 268435456 or v_version.opaque then
        raise exception using
            errcode = 'KL002',
            message = case
                when v_version.opaque then 'the client encrypts this state: use "kl export"'
                else 'the document is larger than 256 MB: use "kl export"'
            end,
            detail = jsonb_build_object('version_id', v_version.id)::text;
    end if;

    if pg_has_role(session_user, 'kl_server', 'member') then
        select e.head || coalesce(o.chunk, '') || e.tail
        into v_document
        from kl_internal.render_envelope(v_version) as e
        cross join kl_internal.render_objects(
            v_version.state_id, v_version.version_no, '', 2000000000
        ) as o;
        return kl_internal.staged_json(
            convert_to(v_document, 'UTF8'), not kl_internal.fits_jsonb(v_document)
        );
    end if;

    return kl_internal.masked_document(v_version);
end;
$$;

comment on function kl.raw_state(kl.state_versions) is
'The whole document of a version: "select v.raw_state from state_versions as v".

Sensitive values are masked, and private and identity left out, unless the login is a member of
kl_server. What jsonb cannot hold stands in escaped form.
Locks: none. Raises: KL002 (over 256 MB, or encrypted by the client), KL101, KL202.
Callers: analysts.';
