create or replace function kl_internal.targeted_row(
    p_row     kl_internal.resources,
    p_to      text,
    p_is_whole boolean
)
returns kl_internal.resources
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_row    kl_internal.resources%rowtype := p_row;
    v_to     record;
    v_local  text;
    v_bare   text;
begin
    select a.* into v_to
    from kl_internal.parse_address(p_to) as a;
    v_row.module := null;
    v_row.name := v_to.name;
    v_row.config_address := v_to.config_address;

    if not p_is_whole then
        v_row.index_key := v_to.index_key;
        -- A parsed key is in escaped form, which the plain one differs from only with this mark.
        if strpos(v_to.index_key::text, chr(64976)) > 0 and not p_row.escaped then
            v_row.escaped := true;
            v_row.resource_extra := kl_internal.escaped_jsonb(p_row.resource_extra::text);
            v_row.extra := kl_internal.escaped_jsonb(p_row.extra::text);
            v_row.attributes_flat := kl_internal.escaped_jsonb(p_row.attributes_flat::text);
            v_row.sensitive_attributes := kl_internal.escaped_jsonb(
                p_row.sensitive_attributes::text
            );
        end if;
    end if;

    -- What old Terraforms say of the kind of its keys would not be true any more.
    if jsonb_typeof(v_row.index_key) is distinct from jsonb_typeof(p_row.index_key) then
        v_row.resource_extra := nullif(v_row.resource_extra - 'each', '{}');
    end if;

    v_bare := left(
        v_to.address,
        length(v_to.address) - length(kl_internal.instance_key_text(v_to.index_key, true))
    );
    v_local := concat_ws('.', case v_to.mode when 'data' then 'data' end, v_to.type, v_to.name);
    if v_bare <> v_local then
        v_row.module := left(v_bare, length(v_bare) - length(v_local) - 1);
    end if;

    v_row.address := v_bare || kl_internal.instance_key_text(v_row.index_key, v_row.escaped);
    v_row.path := kl_internal.resource_path(v_to.module_path, v_to.mode, v_to.type, v_to.name)
        || kl_internal.instance_key_path(v_row.index_key, v_row.escaped)
        || coalesce(E'\x07' || nullif(p_row.deposed, ''), '');
    return v_row;
end;
$$;

comment on function kl_internal.targeted_row(kl_internal.resources, text, boolean) is
'A resource row as it is at another address.

p_is_whole: its whole resource goes there, so that it keeps its key.
Raises: KL001.';
