create or replace function kl_internal.verify_cursor(p_state kl_internal.states, p_cursor jsonb)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_cursor is null then
        return jsonb_build_object(
            'state_id', p_state.id,
            'version_no', p_state.current_version_no,
            'step', 'resources',
            'after', '',
            'done', 0,
            'total', p_state.current_version_no + (
                select count(*)
                from kl_internal.resources as r
                where r.state_id = p_state.id
            )
        );
    end if;

    if p_cursor ->> 'state_id' is distinct from p_state.id::text
        or p_cursor ->> 'step' is null
        or p_cursor ->> 'step' not in ('resources', 'rest', 'versions')
        or jsonb_typeof(p_cursor -> 'after') is distinct from (
            case p_cursor ->> 'step'
                when 'resources' then 'string'
                when 'versions' then 'number'
                else 'null'
            end
        )
        or exists (
            select
            from unnest(
                array['version_no', 'done', 'total']
                    || case
                        when p_cursor ->> 'step' = 'versions' then
                            array['after', 'digest', 'objects', 'outputs']
                        else '{}'
                    end
            ) as m (member)
            where jsonb_typeof(p_cursor -> m.member) is distinct from 'number'
                or p_cursor ->> m.member !~ '^-?[0-9]{1,19}$'
        ) then
        raise exception using
            errcode = 'KL001',
            message = format(
                'state %s was replaced, or this is no cursor of it: begin again',
                to_json(p_state.name)
            ),
            detail = jsonb_build_object('state', p_state.name)::text;
    end if;

    return p_cursor;
end;
$$;

comment on function kl_internal.verify_cursor(kl_internal.states, jsonb) is
'The given cursor if it is one of this state, or the first one.

Raises: KL001.';
