create or replace function kl_internal.lists_sensitive(p_terraform_version text)
returns boolean
language sql
immutable
parallel safe
as $$
    select coalesce(p_terraform_version ~ '^v?(?:1\.(?:[89]|\d\d+)|[2-9]|\d\d+)(?:\.|$)', false);
$$;

comment on function kl_internal.lists_sensitive(text) is
'Whether that writer lists what the schema calls sensitive: Terraform 1.8 and later. Inlined.';
