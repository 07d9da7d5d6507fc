create or replace function kl_internal.checked_paths(p_address text, p_paths jsonb)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_paths is null or p_paths in ('[]', 'null') then
        return p_paths;
    end if;

    -- Names of attributes, as nearly all steps are, are seen at once. False: there is no other;
    -- null: it is no list of lists.
    if not jsonb_path_exists(
        p_paths,
        'strict $[*][*] ? (
            !(@.type == "get_attr" && @.value.type() == "string")
            || (@.type == "get_attr" && @.value.type() == "string") is unknown
        )',
        silent => true
    ) then
        return p_paths;
    end if;

    if jsonb_typeof(p_paths) <> 'array'
        or exists (
            select
            from jsonb_array_elements(p_paths) as p (path)
            where jsonb_typeof(p.path) <> 'array'
        )
        or exists (
            select
            from jsonb_array_elements(p_paths) as p (path)
            cross join lateral jsonb_array_elements(p.path) as s (step)
            where jsonb_typeof(s.step) <> 'object'
                or (s.step ->> 'type') is null
                or case s.step ->> 'type'
                    when 'get_attr' then jsonb_typeof(s.step -> 'value') is distinct from 'string'
                    when 'index' then jsonb_typeof(s.step -> 'value') is distinct from 'object'
                        or not kl_internal.conforms(s.step -> 'value', '"dynamic"')
                    else true
                end
        ) then
        perform kl_internal.refuse_object(
            p_address,
            'sensitive_attributes',
            'is not a list of paths of {"type", "value"} steps'
        );
    end if;

    return p_paths;
end;
$$;

comment on function kl_internal.checked_paths(text, jsonb) is
'The sensitive_attributes of an object, refused where Terraform could not read them.

Raises: KL001.';
