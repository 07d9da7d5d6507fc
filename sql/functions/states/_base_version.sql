create or replace function kl_internal.base_version(
    p_state           kl_internal.states,
    p_base_serial     numeric,
    p_base_version_id uuid
)
returns kl_internal.state_versions
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_current kl_internal.state_versions%rowtype;
    v_base    kl_internal.state_versions%rowtype;
begin
    if p_base_version_id is not null then
        select v.*
        into v_base
        from kl_internal.state_versions as v
        where v.id = p_base_version_id;

        if v_base.state_id is distinct from p_state.id then
            v_base := kl_internal.resolve_version(p_state, p_base_version_id::text);
        end if;
    elsif p_base_serial is null then
        raise exception using
            errcode = 'KL001',
            message = 'the request names no base: give base_serial or version_id',
            detail = jsonb_build_object('pointer', '/base_serial', 'state', p_state.name)::text;
    else
        -- A serial may repeat: the oldest version with it is what any such client may have read.
        select v.*
        into v_base
        from kl_internal.state_versions as v
        where v.state_id = p_state.id
            and v.serial = p_base_serial
            and v.lineage = (
                select c.lineage
                from kl_internal.state_versions as c
                where c.state_id = p_state.id
                    and c.version_no >= p_state.current_version_no
                order by c.version_no  -- as in kl_internal.successor_version
                limit 1
            )
        order by v.version_no
        limit 1;
        if found then
            return v_base;
        end if;
    end if;

    v_current := kl_internal.resolve_version(p_state, 'current');
    if v_base.lineage = v_current.lineage
        and v_base.serial = coalesce(p_base_serial, v_base.serial) then
        return v_base;
    end if;

    raise exception using
        errcode = 'KL302',
        message = format(
            'the state has serial %s now, and no version with serial %s of its lineage to start '
                || 'from; read it again',
            v_current.serial,
            coalesce(p_base_serial, v_base.serial)
        ),
        detail = jsonb_build_object(
            'current_serial', v_current.serial,
            'base_serial', coalesce(p_base_serial, v_base.serial),
            'current_version_id', v_current.id
        )::text;
end;
$$;

comment on function kl_internal.base_version(kl_internal.states, numeric, uuid) is
'The version a native request starts from: its version id, or the oldest of the current lineage with
its serial.

Raises: KL001 (neither is given), KL202 (no such version id), KL302 (no such serial in the current
lineage, or the two disagree).';
