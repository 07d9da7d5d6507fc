create or replace function kl_internal.is_builtin_provider(p_provider text)
returns boolean
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select p_provider ~ (
        '^(?:module\.[^\s.\[\]"\\]+\.)*'
        || 'provider\["terraform\.io/builtin/[^\s"/]+"\](?:\.[^\s.\[\]"\\]+)?$'
    );
$$;

comment on function kl_internal.is_builtin_provider(text) is
'Whether Terraform itself is the provider at an address: there is no program to ask.';
