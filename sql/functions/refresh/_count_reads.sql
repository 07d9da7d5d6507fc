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
    select
        count(*),
        count(*) filter (where c.outcome = 'failed'),
        count(*) filter (where c.superseded),
        (
            select count(*)
            from kl_internal.refresh_objects as o
            where o.refresh_run_id = p_refresh_run_id
                and not kl_internal.is_builtin_provider(o.provider)
                and not exists (
                    select
                    from kl_internal.staged_reads as s
                    where s.refresh_run_id = p_refresh_run_id
                        and s.resource_id = o.resource_id
                )
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
