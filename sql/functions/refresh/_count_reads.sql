-- requires: providers/_is_builtin_provider
-- requires: refresh/_compared_reads.view, refresh/_refresh_objects.view
create or replace function kl_internal.count_reads(
    p_refresh_run_id      uuid,
    out checked           integer,
    out failed            integer,
    out superseded        integer,
    out missing           integer,
    out changed_addresses text[]
)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    -- By counts per provider: an anti-join would trust statistics that know nothing of the stage.
    with objects as materialized (
        select o.provider, count(*) as object_count
        from kl_internal.refresh_objects as o
        where o.refresh_run_id = p_refresh_run_id
        group by o.provider
    ),
    expected as materialized (
        select o.provider, o.object_count
        from objects as o
        where not kl_internal.is_builtin_provider(o.provider)
    )
    select
        count(*),
        count(*) filter (where c.outcome = 'failed'),
        count(*) filter (where c.superseded),
        coalesce((select sum(e.object_count) from expected as e), 0) - count(*) filter (
            where coalesce((c.base).instance_provider, (c.base).provider)
                in (select e.provider from expected as e)
        ),
        coalesce(
            array_agg(
                (c.base).address || coalesce(
                    ' (deposed object ' || nullif((c.base).deposed, '') || ')', ''
                )
                order by (c.base).path
            ) filter (where c.drifted and not c.superseded),
            '{}'
        )
    from kl_internal.compared_reads as c
    where c.refresh_run_id = p_refresh_run_id;
$$;

comment on function kl_internal.count_reads(uuid) is
'How many objects a refresh has staged, how they ended, and which drifted.

missing: objects of its version that it has not staged. Those that Terraform itself provides are not
expected: they are as they are stored. superseded: objects that somebody else has written since,
whatever the refresh read.';
