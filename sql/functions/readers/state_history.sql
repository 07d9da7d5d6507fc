-- requires: readers/state_id
-- requires: states/resource_history.view
-- requires: states/state_versions.view
-- requires: tags/version_tags.view
create or replace function kl.state_history(p_state text)
returns table (
    version_no         bigint,
    version_id         uuid,
    serial             numeric,
    source             text,
    operation          text,
    actor              text,
    run_id             uuid,
    terraform_version  text,
    created_at         timestamptz,
    objects            bigint,
    opened             bigint,
    closed             bigint,
    tags               text[]
)
language sql
stable
as $$
    select
        v.version_no,
        v.version_id,
        v.serial,
        v.source,
        v.operation,
        v.actor,
        v.run_id,
        v.terraform_version,
        v.created_at,
        v.object_count,
        -- Subqueries here, and not joins: a limit on the versions spares the rest.
        (
            select count(*)
            from kl.resource_history as h
            where h.state_id = v.state_id
                and h.create_version_no = v.version_no
        ),
        (
            select count(*)
            from kl.resource_history as h
            where h.state_id = v.state_id
                and h.delete_version_no = v.version_no
        ),
        (
            select coalesce(array_agg(g.tag order by g.tag), '{}')
            from kl.version_tags as g
            where g.state_id = v.state_id
                and g.version_no = v.version_no
        )
    from kl.state_versions as v
    where v.state_id = (select kl.state_id(p_state))
        and (select kl.state_id(p_state)) is not null;  -- asked even where there is no row
$$;

comment on function kl.state_history(text) is
'Every version of a state: who wrote it, when, how, and how much it changed.

opened: objects that were new or changed; closed: objects that were replaced or removed.
Raises: KL001, KL101, KL102, KL201. Callers: analysts, server, CLI.';
