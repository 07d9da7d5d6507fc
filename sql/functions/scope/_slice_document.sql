create or replace function kl_internal.slice_document(
    p_state   kl_internal.states,
    p_version kl_internal.state_versions,
    p_paths   text[],
    p_outputs text[],
    p_format  text
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        with texts as (
            select
                case
                    when p_version.escaped then kl_internal.unescape_json(t.lineage)
                    else t.lineage
                end as lineage,
                case
                    when p_version.escaped then kl_internal.unescape_json(t.terraform_version)
                    else t.terraform_version
                end as terraform_version
            from (
                select
                    to_json(p_version.lineage)::text as lineage,
                    coalesce(to_json(p_version.terraform_version)::text, 'null')
                        as terraform_version
            ) as t
        )
        select case
            when p_format = 'terraform-state' then
                concat(
                    '{"version":4',
                    ',"terraform_version":' || nullif(t.terraform_version, 'null'),
                    ',"serial":', p_version.serial,
                    ',"lineage":', t.lineage,
                    ',"outputs":{', o.members, '}',
                    ',"resources":[', kl_internal.slice_blocks(p_state.id, p_paths), ']',
                    ',"check_results":null}', E'\n'
                )
            else
                concat(
                    '{"state":', to_json(kl_internal.canonical_name(p_state)),
                    ',"state_id":"', p_state.id,
                    '","lineage":', t.lineage,
                    ',"serial":', p_version.serial,
                    ',"version_id":"', p_version.id,
                    '","slice":{"resources":[', kl_internal.slice_resources(p_state.id, p_paths),
                    '],"outputs":[', o.native,
                    '],"metadata":{"terraform_version":', t.terraform_version, '}}}'
                )
        end
        from texts as t
        cross join kl_internal.slice_outputs(p_state.id, p_outputs) as o
    );
end;
$$;

comment on function kl_internal.slice_document(
    kl_internal.states, kl_internal.state_versions, text[], text[], text
) is
'A slice of the current version: in the protocol''s own form, or as a state document.';
