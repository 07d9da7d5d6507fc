create or replace function kl_internal.attribute_changes(
    p_old       jsonb,
    p_new       jsonb,
    p_old_shown jsonb,
    p_new_shown jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return kl_internal.value_changes('', p_old, p_new, p_old_shown, p_new_shown);
end;
$$;

comment on function kl_internal.attribute_changes(jsonb, jsonb, jsonb, jsonb) is
'The paths at which two attribute objects differ, as [{"path", "old", "new"}]; a side that is not
there has no member.

p_old_shown and p_new_shown are the same as an analyst sees them: a masked value is told apart, and
shown masked. Paths are written a.b[0]["odd key"].
Definer: a view calls it as its reader.';
