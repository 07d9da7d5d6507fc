-- requires: core/_clock, refresh/_drop_lost_refreshes, upload/_release_claims
create or replace function kl.sweep_uploads(p_older_than interval)
returns bigint
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
    select kl_internal.release_claims(
        array(
            select c.upload_id
            from kl_internal.upload_claims as c
            where c.staged_at < kl_internal.clock() - p_older_than
        )
    );
    select kl_internal.drop_lost_refreshes(p_older_than);

    with objects as (
        delete from kl_internal.upload_objects as u
        where u.staged_at < kl_internal.clock() - p_older_than
        returning u.upload_id
    ),
    batches as (
        delete from kl_internal.upload_batches as b
        where b.staged_at < kl_internal.clock() - p_older_than
    ),
    resources as (
        delete from kl_internal.upload_resources as r
        where r.staged_at < kl_internal.clock() - p_older_than
    ),
    dependencies as (
        delete from kl_internal.upload_dependencies as u
        where u.staged_at < kl_internal.clock() - p_older_than
    ),
    comparisons as (
        delete from kl_internal.upload_comparisons as u
        where u.staged_at < kl_internal.clock() - p_older_than
    ),
    slices as (
        delete from kl_internal.staged_slices as s
        where s.staged_at < kl_internal.clock() - p_older_than
        returning s.upload_id
    ),
    keys as (
        delete from kl_internal.staged_keys as k
        where k.staged_at < kl_internal.clock() - p_older_than
        returning k.upload_id
    )
    select count(distinct u.upload_id)
    from (
        select o.upload_id
        from objects as o
        union all
        select s.upload_id
        from slices as s
        union all
        select k.upload_id
        from keys as k
    ) as u;
$$;

comment on function kl.sweep_uploads(interval) is
'Drop uploads that were begun longer ago than that and never committed; returns how many.

Refreshes whose client is gone end as failed, and what they had staged goes too.
Locks: none. Raises: nothing. Callers: server, in the background.';
