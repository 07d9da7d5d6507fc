create or replace function kl_internal.analyst_attributes(
    p_type              text,
    p_terraform_version text,
    p_attributes        jsonb,
    p_paths             jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_masked jsonb := kl_internal.masked_attributes(p_attributes, p_paths);
begin
    if p_type = 'terraform_remote_state' then
        v_masked := kl_internal.masked_remote_state(v_masked);
    end if;

    if not kl_internal.lists_sensitive(p_terraform_version) then
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

Masked: the paths of sensitive_attributes and all below them; the outputs of terraform_remote_state
and its credentials; every string that a writer left which does not list what the schema calls
sensitive.
Definer: a view calls it as its reader.';
