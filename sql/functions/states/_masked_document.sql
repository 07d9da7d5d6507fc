-- requires: json/_projected, states/_analyst_attributes
create or replace function kl_internal.masked_document(p_version kl_internal.state_versions)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    with objects as (
        select
            r.module,
            r.mode,
            r.type,
            r.name,
            r.provider,
            min(r.path) as path,
            jsonb_agg(
                jsonb_strip_nulls(jsonb_build_object(
                    'index_key', r.index_key,
                    'status', r.status,
                    'deposed', nullif(r.deposed, ''),
                    'schema_version', r.schema_version,
                    'dependencies', to_jsonb(d.addresses),
                    'create_before_destroy', r.create_before_destroy
                ))
                    || jsonb_build_object(
                        'attributes',
                        kl_internal.analyst_attributes(
                            r.type,
                            w.terraform_version,
                            coalesce(kl_internal.projected(r.attributes, r.escaped), '{}'),
                            r.sensitive_attributes
                        ),
                        'sensitive_attributes',
                        coalesce(r.sensitive_attributes, '[]')
                    )
                order by r.path
            ) as instances
        from kl_internal.resources as r
        inner join kl_internal.state_versions as w
            on w.state_id = r.state_id
            and w.version_no = r.opened_no
        left join kl_internal.dependency_sets as d on d.id = r.dependency_set_id
        where r.state_id = p_version.state_id
            and r.opened_no <= p_version.version_no
            and (r.closed_no is null or r.closed_no > p_version.version_no)
        group by r.module, r.mode, r.type, r.name, r.provider
    ),
    outputs as (
        select
            jsonb_object_agg(
                o.name,
                jsonb_build_object(
                    'value',
                    case when o.sensitive then '"(sensitive value)"' else o.value end,
                    'type', o.type,
                    'sensitive', coalesce(o.sensitive, false)
                )
            ) as members
        from kl_internal.outputs as o
        where o.state_id = p_version.state_id
            and o.opened_no <= p_version.version_no
            and (o.closed_no is null or o.closed_no > p_version.version_no)
    )
    select jsonb_build_object(
        'version', 4,
        'terraform_version', p_version.terraform_version,
        'serial', p_version.serial,
        'lineage', p_version.lineage,
        'outputs', coalesce((select o.members from outputs as o), '{}'),
        'resources', coalesce(
            (
                select jsonb_agg(
                    jsonb_strip_nulls(jsonb_build_object(
                        'module', b.module,
                        'mode', b.mode,
                        'type', b.type,
                        'name', b.name,
                        'provider', b.provider
                    ))
                        || jsonb_build_object('instances', b.instances)
                    order by b.path
                )
                from objects as b
            ),
            '[]'
        )
    );
$$;

comment on function kl_internal.masked_document(kl_internal.state_versions) is
'The document of a version as an analyst may see it.';
