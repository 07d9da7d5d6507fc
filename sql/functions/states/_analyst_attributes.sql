create or replace function kl_internal.analyst_attributes(
    p_type              text,
    p_terraform_version text,
    p_attributes        jsonb,
    p_paths             jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_masked   jsonb := kl_internal.masked_attributes(p_attributes, p_paths);
    v_patterns jsonb;
    v_pattern  jsonb;
begin
    select t.patterns
    into v_patterns
    from kl_internal.sensitive_types as t
    where t.type = p_type;

    for v_pattern in
        select e.pattern
        from jsonb_array_elements(v_patterns) as e (pattern)
    loop
        v_masked := kl_internal.masked_pattern(v_masked, v_pattern);
    end loop;

    if p_type = 'terraform_remote_state' then
        v_masked := kl_internal.masked_remote_state(v_masked);
    end if;

    -- With a schema at hand its patterns say it; without, any string may be a secret.
    if v_patterns is null and not kl_internal.lists_sensitive(p_terraform_version) then
        v_masked := case
            -- Too deep to walk: one such object would fail every query that meets it.
            when jsonb_path_exists(v_masked, '$.**{200}') then
                kl_internal.masked_attributes(v_masked, '[[]]')
            else kl_internal.masked_strings(v_masked)
        end;
    end if;

    return v_masked;
end;
$$;

comment on function kl_internal.analyst_attributes(text, text, jsonb, jsonb) is
'The attributes of an object as an analyst may see them.

Masked: the paths of sensitive_attributes and all below them; what a cached schema of the type calls
sensitive; the outputs of terraform_remote_state and its credentials; without a cached schema, every
string of a writer that does not list what the schema calls sensitive.
Definer: a view calls it as its reader.';
