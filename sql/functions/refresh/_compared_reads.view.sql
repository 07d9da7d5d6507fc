-- requires: json/_canonical_set
-- requires: json/_escaped_jsonb
-- requires: json/_needs_escape
-- requires: json/_same_json
-- requires: json/_staged_json
create or replace view kl_internal.compared_reads as
select
    c.refresh_run_id,
    c.base,
    c.outcome,
    c.error,
    (c.base).closed_no is not null as superseded,
    c.escaped,
    c.renewed,
    c.attributes,
    c.identity,
    c.outcome = 'gone'
        or (
            c.outcome = 'read'
            and (
                not (
                    kl_internal.same_json(
                        coalesce((c.base).attributes, '{}'), c.attributes, c.escaped
                    )
                    or kl_internal.same_json(c.prior, c.attributes, c.escaped)
                )
                or (c.base).attributes_flat is not null
                or (c.renewed).schema_version
                    is distinct from coalesce((c.base).schema_version, 0)
                or (c.renewed).private is distinct from (c.base).private
                or not kl_internal.same_json((c.base).identity, c.identity, c.escaped)
                or kl_internal.canonical_set((c.renewed).sensitive_attributes)
                    is distinct from kl_internal.canonical_set((c.base).sensitive_attributes)
            )
        ) as changed
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
                'sensitive_attributes', kl_internal.staged_json(s.sensitive_attributes, e.escaped),
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
) as c;

comment on view kl_internal.compared_reads is
'What a refresh read beside what it started from. changed: they differ as JSON values, sets as sets.

base is the row the run read; renewed, with attributes and identity, is that row as the provider has
it now. superseded: somebody else has written the object since. A set in another order is no
difference: prior is the base in the codec''s canonical form.';
