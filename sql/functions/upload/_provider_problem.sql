create or replace function kl_internal.provider_problem(p_provider text)
returns text
language sql
stable  -- as to_json is: otherwise it would not be inlined
parallel safe
as $$
    select case
        when p_provider !~ (
            '^(?:module\.[^\s.\[\]"\\]+\.)*'
            || '(?:provider\["(?:[^\s"/]+/){0,2}[^\s"/]+"\](?:\.[^\s.\[\]"\\]+)?'
            || '|provider\.[^\s.\[\]"\\]+(?:\.[^\s.\[\]"\\]+)?)$'
        ) then
            'provider ' || pg_catalog.to_json(p_provider)
            || ' is not a provider address; Terraform would drop the resource without a word'
    end;
$$;

comment on function kl_internal.provider_problem(text) is
'Why a resource''s provider is none that Terraform can read; null when it is one.

Read: [module.NAME.]provider["HOST/NAMESPACE/TYPE"][.ALIAS], and provider.NAME[.ALIAS] of 0.12.
Inlined.';
