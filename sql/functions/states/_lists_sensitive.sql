create or replace function kl_internal.lists_sensitive(p_terraform_version text)
returns boolean
language sql
immutable
parallel safe
as $$
    -- Inlined into views, where the reader's search_path would choose the operator.
    select coalesce(
        p_terraform_version operator(pg_catalog.~)
            '^v?(?:1\.(?:[89]|[1-9]\d+)|[2-9]|[1-9]\d+)(?:\.|$)',
        false
    );
$$;

comment on function kl_internal.lists_sensitive(text) is
'Whether that writer lists what the schema calls sensitive: Terraform 1.8 and later. Inlined.';
