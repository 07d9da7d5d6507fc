create or replace function kl_internal.value_changes(
    p_path      text,
    p_old       jsonb,
    p_new       jsonb,
    p_old_shown jsonb,
    p_new_shown jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_kind    text := jsonb_typeof(p_old);
    v_changes jsonb := '[]'::jsonb;
    v_key     text;
begin
    if p_old is not distinct from p_new then
        return v_changes;
    end if;

    -- Further down only where all four are containers of one kind.
    if v_kind not in ('object', 'array')
        or (v_kind = all (array[
            jsonb_typeof(p_new), jsonb_typeof(p_old_shown), jsonb_typeof(p_new_shown)
        ])) is not true then
        v_kind := null;
    end if;

    case v_kind
        when 'object' then
            for v_key in
                select k.key
                from jsonb_object_keys(p_old || p_new) as k (key)
                order by k.key collate "C"
            loop
                if p_old -> v_key is distinct from p_new -> v_key then
                    v_changes := v_changes || kl_internal.value_changes(
                        p_path || case
                            when v_key !~ '^[A-Za-z_][A-Za-z0-9_-]*$' then
                                '[' || to_json(v_key) || ']'
                            when p_path = '' then v_key
                            else '.' || v_key
                        end,
                        p_old -> v_key,
                        p_new -> v_key,
                        p_old_shown -> v_key,
                        p_new_shown -> v_key
                    );
                end if;
            end loop;
        when 'array' then
            for v_index in
                0 .. greatest(jsonb_array_length(p_old), jsonb_array_length(p_new)) - 1
            loop
                v_changes := v_changes || kl_internal.value_changes(
                    p_path || '[' || v_index || ']',
                    p_old -> v_index,
                    p_new -> v_index,
                    p_old_shown -> v_index,
                    p_new_shown -> v_index
                );
            end loop;
        else
            v_changes := jsonb_build_array(
                jsonb_build_object('path', p_path)
                    || case
                        when p_old is null then '{}'
                        else jsonb_build_object(
                            'old', coalesce(p_old_shown, '"(sensitive value)"')
                        )
                    end
                    || case
                        when p_new is null then '{}'
                        else jsonb_build_object(
                            'new', coalesce(p_new_shown, '"(sensitive value)"')
                        )
                    end
            );
    end case;

    return v_changes;
end;
$$;

comment on function kl_internal.value_changes(text, jsonb, jsonb, jsonb, jsonb) is
'The paths below p_path at which two JSON values differ, as [{"path", "old", "new"}]; a side that is
not there has no member.

p_old_shown and p_new_shown are the same as an analyst sees them: a masked value is told apart, and
shown masked. Paths are written a.b[0]["odd key"].
Callers: kl_internal.attribute_changes.';
