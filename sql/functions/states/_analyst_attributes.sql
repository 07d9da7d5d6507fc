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
    if p_type = 'terraform_remote_state' and v_masked ? 'outputs' then
        -- Another state's outputs: whether they are sensitive does not come along.
        v_masked := jsonb_set(v_masked, '{outputs}', '"(sensitive value)"');
    end if;

    if not kl_internal.lists_sensitive(p_terraform_version) then
        v_masked := kl_internal.masked_strings(v_masked);
    end if;

    return v_masked;
end;
$$;

comment on function kl_internal.analyst_attributes(text, text, jsonb, jsonb) is
'The attributes of an object as an analyst may see them.

Masked: the paths of sensitive_attributes and all below them; the outputs of terraform_remote_state;
every string that a writer left which does not list what the schema calls sensitive.
Definer: a view calls it as its reader.';
