create or replace function kl_internal.parse_provider(
    p_provider text,
    out source text,
    out alias  text,
    out module text
)
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_place integer := strpos(p_provider, 'provider["');
    v_rest  text;
    v_parts text[];
begin
    if v_place > 0 then
        module := nullif(left(p_provider, greatest(v_place - 2, 0)), '');
        v_rest := substr(p_provider, v_place + 10);
        source := split_part(v_rest, '"]', 1);
        -- All that follows: OpenTofu's keys may hold anything.
        alias := nullif(substr(v_rest, length(source) + 4), '');
        return;
    end if;

    -- provider.NAME.ALIAS, as Terraform 0.12 wrote it.
    v_parts := regexp_match(p_provider, '^(?:(module\..+)\.)?provider\.([^.]+)(?:\.([^.]+))?$');
    module := v_parts[1];
    source := v_parts[2];
    alias := v_parts[3];
end;
$$;

comment on function kl_internal.parse_provider(text) is
'The parts of a provider configuration address: HOST/NAMESPACE/TYPE, alias, module.';
