create or replace function kl_internal.resolve_version(
    p_state   kl_internal.states,
    p_version text
)
returns kl_internal.state_versions
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_version kl_internal.state_versions%rowtype;
    v_at      timestamptz;
begin
    case
        when p_version = 'current' then
            select v.* into v_version
            from kl_internal.state_versions as v
            where v.state_id = p_state.id
                and v.version_no = p_state.current_version_no;
        when p_version ~ '^@[0-9]{1,18}$' then
            select v.* into v_version
            from kl_internal.state_versions as v
            where v.state_id = p_state.id
                and v.version_no = p_state.current_version_no - substr(p_version, 2)::bigint;
        when p_version ~ '^v[0-9]{1,18}$' then
            select v.* into v_version
            from kl_internal.state_versions as v
            where v.state_id = p_state.id
                and v.version_no = substr(p_version, 2)::bigint;
        when p_version ~ '^[0-9]{1,20}$' then
            select v.* into v_version
            from kl_internal.state_versions as v
            where v.state_id = p_state.id
                and v.serial = p_version::numeric
            order by v.version_no desc
            limit 1;
        when p_version ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' then
            select v.* into v_version
            from kl_internal.state_versions as v
            where v.state_id = p_state.id
                and v.id = p_version::uuid;
        else
            -- No tag can be taken for a timestamp (kl_internal.require_tag_name).
            select v.* into v_version
            from kl_internal.version_tags as t
            inner join kl_internal.state_versions as v
                on v.state_id = t.state_id
                and v.version_no = t.version_no
            where t.state_id = p_state.id
                and t.name = p_version;

            if v_version.id is null then
                v_version := kl_internal.version_by_prefix(p_state, p_version);
            end if;
            if v_version.id is null then
                v_at := kl_internal.read_timestamp(p_version);
                select v.* into v_version
                from kl_internal.state_versions as v
                where v.state_id = p_state.id
                    and v.created_at <= v_at
                order by v.version_no desc
                limit 1;
            end if;
    end case;

    if v_version.id is null then
        raise exception using
            errcode = 'KL202',
            message = format(
                'state %s has no version %s; use current, @N, a serial, vN, a version id, a '
                    || 'tag or a timestamp',
                to_json(p_state.name),
                coalesce(to_json(p_version)::text, 'null')
            ),
            detail = jsonb_build_object('state', p_state.name, 'version', p_version)::text;
    end if;

    return v_version;
end;
$$;

comment on function kl_internal.resolve_version(kl_internal.states, text) is
'The version that a reference names.

current; @N: N versions before it; a serial: the latest version with it; vN: our version_no; a
version id or its beginning; a tag; a timestamp: the version that was current then. Raises: KL001
(an ambiguous beginning), KL202.';
