create or replace function kl_internal.slice_document(
    p_state     kl_internal.states,
    p_version   kl_internal.state_versions,
    p_addresses text[],
    p_paths     text[],
    p_outputs   text[],
    p_format    text
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_lineage   text := to_json(p_version.lineage);
    v_terraform text := to_json(p_version.terraform_version);
    v_outputs   record;
    v_resources record;
begin
    if p_version.escaped then
        v_lineage := kl_internal.unescape_json(v_lineage);
        v_terraform := kl_internal.unescape_json(v_terraform);
    end if;
    select o.native, o.members
    into v_outputs
    from kl_internal.slice_outputs(p_state.id, p_outputs) as o;

    if p_format = 'terraform-state' then
        select b.texts, b.total
        into v_resources
        from kl_internal.slice_blocks(p_state.id, p_paths) as b;
    else
        select r.texts, r.total
        into v_resources
        from kl_internal.slice_resources(p_state.id, p_paths) as r;
    end if;
    if v_resources.total <> cardinality(p_paths) then
        perform kl_internal.require_present(p_state, p_addresses, p_paths);
    end if;

    if p_format = 'terraform-state' then
        return concat(
            '{"version":4',
            ',"terraform_version":' || v_terraform,
            ',"serial":', p_version.serial,
            ',"lineage":', v_lineage,
            ',"outputs":{', v_outputs.members, '}',
            ',"resources":[', v_resources.texts, ']',
            ',"check_results":null}', E'\n'
        );
    end if;

    return concat(
        '{"state":', to_json(kl_internal.canonical_name(p_state)),
        ',"state_id":"', p_state.id,
        '","lineage":', v_lineage,
        ',"serial":', p_version.serial,
        ',"version_id":"', p_version.id,
        '","slice":{"resources":[', v_resources.texts,
        '],"outputs":[', v_outputs.native,
        '],"metadata":{"terraform_version":', coalesce(v_terraform, 'null'), '}}}'
    );
end;
$$;

comment on function kl_internal.slice_document(
    kl_internal.states, kl_internal.state_versions, text[], text[], text[], text
) is
'A slice of the current version: in the protocol''s own form, or as a state document.

Raises: KL402 (the state does not have all that was asked for).';
