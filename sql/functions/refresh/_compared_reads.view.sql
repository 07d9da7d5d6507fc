-- requires: json/_canonical_set
-- requires: json/_escaped_jsonb
-- requires: json/_needs_escape
-- requires: json/_same_json
-- requires: json/_staged_json
-- requires: refresh/_refresh_objects.view
create or replace view kl_internal.compared_reads as
select
    c.refresh_run_id,
    c.base,
    c.outcome,
    c.error,
    (c.base).closed_no is not null as superseded,
    c.escaped,
    c.renewed,
    case
        when d.drifted then c.attributes
        else coalesce((c.base).attributes_spelling, (c.base).attributes)
    end as attributes,
    c.identity,
    d.drifted
        or (
            c.outcome = 'read'
            and (
                d.upgraded
                or nullif((c.renewed).private, '') is distinct from nullif((c.base).private, '')
                or not kl_internal.same_json((c.base).identity, c.identity, c.escaped)
                or coalesce((c.renewed).identity_schema_version, 0)
                    <> coalesce((c.base).identity_schema_version, 0)
                or (
                    -- Mostly they are equal as they are, and to sort them costs.
                    (c.renewed).sensitive_attributes
                        is distinct from (c.base).sensitive_attributes
                    and kl_internal.canonical_set(
                        coalesce(nullif((c.renewed).sensitive_attributes, 'null'), '[]')
                    )
                        <> kl_internal.canonical_set(
                            coalesce(nullif((c.base).sensitive_attributes, 'null'), '[]')
                        )
                )
            )
        ) as changed,
    d.drifted,
    c.outcome = 'read' and d.drifted and d.upgraded and not c.same_as_prior as beyond_upgrade
from (
    select
        p.*,
        (p.base).attributes_flat is null
            and kl_internal.same_json(
                coalesce((p.base).attributes, '{}'), p.attributes, p.escaped
            ) as same_as_base,
        kl_internal.same_json(p.prior, p.attributes, p.escaped) as same_as_prior
    from (
        select
            s.refresh_run_id,
            r as base,
            s.outcome,
            s.error,
            e.escaped,
            convert_from(s.attributes, 'UTF8')::json as attributes,
            convert_from(s.identity, 'UTF8')::json as identity,
            convert_from(s.prior, 'UTF8')::json as prior,
            jsonb_populate_record(
                r,
                jsonb_build_object(
                    'attributes_flat', null,
                    'schema_version', s.schema_version,
                    'sensitive_attributes',
                        kl_internal.staged_json(s.sensitive_attributes, e.escaped),
                    'private', s.private,
                    'identity_schema_version', s.identity_schema_version
                )
                    || case
                        when e.escaped and not r.escaped then jsonb_build_object(
                            'index_key', kl_internal.escaped_jsonb(r.index_key::text),
                            'resource_extra', kl_internal.escaped_jsonb(r.resource_extra::text),
                            'extra', kl_internal.escaped_jsonb(r.extra::text)
                        )
                        else '{}'
                    end
            ) as renewed
        from kl_internal.staged_reads as s
        -- What is staged for no object of the run's own version is not looked at.
        inner join kl_internal.refresh_objects as o
            on o.refresh_run_id = s.refresh_run_id
            and o.resource_id = s.resource_id
        inner join kl_internal.resources as r on r.id = s.resource_id
        cross join lateral (
            select r.escaped
                or coalesce(
                    kl_internal.needs_escape(convert_from(s.attributes, 'UTF8'))
                    or kl_internal.needs_escape(convert_from(s.identity, 'UTF8')),
                    false
                ) as escaped
            offset 0
        ) as e
        offset 0
    ) as p
    offset 0
) as c
cross join lateral (
    select
        u.upgraded,
        c.outcome = 'gone'
            or (
                c.outcome = 'read'
                and not c.same_as_base
                and (u.upgraded or not c.same_as_prior)
            ) as drifted
    from (
        select (c.base).attributes_flat is not null
            or (c.renewed).schema_version
                is distinct from coalesce((c.base).schema_version, 0) as upgraded
    ) as u
    offset 0
) as d;

comment on view kl_internal.compared_reads is
'What a refresh read beside what it started from, as JSON values, sets as sets.

base is the row the run read; renewed, with attributes and identity, is that row as the provider has
it now. superseded: somebody else has written the object since. A set in another order is no
difference: prior is what the provider made of the base by itself, in the codec''s canonical form.
drifted: gone, or other attributes; otherwise attributes are the base''s own. changed: drifted, or
anything else that is stored differs. beyond_upgrade: the schema was upgraded, and more differs.';
