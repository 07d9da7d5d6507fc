create or replace function kl.unset_tag(p_state text, p_tag text)
returns bigint
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state      kl_internal.states%rowtype;
    v_version_no bigint;
begin
    v_state := kl_internal.require_state(p_state, 'state:write');

    delete from kl_internal.version_tags as t
    where t.state_id = v_state.id
        and t.name = p_tag
    returning t.version_no into v_version_no;

    if v_version_no is null then
        raise exception using
            errcode = 'KL202',
            message = format(
                'state %s has no tag %s',
                to_json(p_state),
                coalesce(to_json(left(p_tag, 200))::text, 'null')
            ),
            detail = jsonb_build_object('state', p_state, 'tag', left(p_tag, 200))::text;
    end if;

    perform kl_internal.record_event(
        v_state.id,
        v_state.name,
        'tag_unset',
        jsonb_build_object('tag', p_tag, 'version_no', v_version_no)
    );

    return v_version_no;
end;
$$;

comment on function kl.unset_tag(text, text) is
'Remove a tag from a state; the version_no it named.

Locks: none. Raises: KL001, KL101, KL102, KL201, KL202. Callers: server, CLI.';
