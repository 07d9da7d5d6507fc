create or replace function kl.verify_state(
    p_name   text,
    p_cursor jsonb default null,
    p_limit  integer default 2000
)
returns table (
    next_cursor jsonb,
    version_no  bigint,
    done        bigint,
    total       bigint,
    damage      jsonb
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_state  kl_internal.states%rowtype;
    v_cursor jsonb;
    v_found  record;
    v_damage jsonb;
begin
    v_state := kl_internal.require_state(p_name, 'state:read');
    v_cursor := kl_internal.verify_cursor(v_state, p_cursor);

    case v_cursor ->> 'step'
        when 'resources' then
            select r.checked, r.last_path, r.damage
            into v_found
            from kl_internal.verify_resources(
                v_state.id, (v_cursor -> 'version_no')::bigint, v_cursor ->> 'after',
                greatest(p_limit, 1)
            ) as r;
            v_damage := v_found.damage;
            v_cursor := v_cursor || jsonb_build_object(
                'after', v_found.last_path,
                'done', (v_cursor -> 'done')::bigint + v_found.checked,
                'step', case when v_found.last_path is null then 'rest' else 'resources' end
            );
        when 'rest' then
            v_damage := coalesce(
                kl_internal.verify_outputs(v_state.id, (v_cursor -> 'version_no')::bigint), '[]'
            ) || coalesce(kl_internal.verify_dependencies(v_state.id), '[]')
                || coalesce(kl_internal.verify_pointer(v_state), '[]');
            v_cursor := v_cursor || jsonb_build_object(
                'step', 'versions', 'after', 0, 'digest', 0, 'objects', 0, 'outputs', 0
            );
        else
            select r.*
            into v_found
            from kl_internal.verify_versions(
                v_state.id, (v_cursor -> 'version_no')::bigint, (v_cursor -> 'after')::bigint,
                greatest(p_limit, 1), (v_cursor -> 'digest')::bigint,
                (v_cursor -> 'objects')::bigint, (v_cursor -> 'outputs')::bigint
            ) as r;
            v_damage := v_found.damage;
            v_cursor := v_cursor || jsonb_build_object(
                'done', (v_cursor -> 'done')::bigint + v_found.last_no
                    - (v_cursor -> 'after')::bigint,
                'after', v_found.last_no, 'digest', v_found.digest, 'objects', v_found.objects,
                'outputs', v_found.outputs
            );
    end case;

    version_no := (v_cursor -> 'version_no')::bigint;
    done := (v_cursor -> 'done')::bigint;
    total := greatest((v_cursor -> 'total')::bigint, done);
    next_cursor := case
        when v_cursor ->> 'step' <> 'versions' or v_cursor -> 'after' <> v_cursor -> 'version_no'
            then v_cursor
    end;
    damage := coalesce(v_damage, '[]');
    return next;
end;
$$;

comment on function kl.verify_state(text, jsonb, integer) is
'Check the next part of a state and its history against their hashes; a null next_cursor ends it.

p_cursor is null at first, then the next_cursor of the part before; p_limit rows or versions make a
part. What is written meanwhile is not looked at: version_no is the last version that is. damage is
an array of findings: kind (resource, output, dependencies, versions), address where it is known,
deposed_key, problem, from_version_no, to_version_no. It finds accidents, not attackers.
Locks: none. Raises: KL001, KL101, KL102, KL201. Callers: server, CLI.';
