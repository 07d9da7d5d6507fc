create or replace function kl_internal.replace_resources(
    p_current          kl_internal.state_versions,
    p_draft            kl_internal.state_versions,
    p_comparison       kl_internal.upload_comparisons,
    p_objects          bigint,
    out closed_count   bigint,
    out opened_count   bigint,
    out changed_digest bigint
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_upload_id     uuid := p_comparison.upload_id;
    v_open          bigint := coalesce(p_current.object_count, 0);
    v_marked_count  bigint := 0;
    v_same_count    bigint := 0;
    v_opened_digest bigint;
    v_claimed       record;
begin
    -- Sent because they differed then, and equal now: another writer brought them in between.
    delete from kl_internal.upload_objects as u
    where u.upload_id = v_upload_id
        and u.ordinal <> all (p_comparison.unmatched)
        and cardinality(p_comparison.unmatched) < (
            select count(*)
            from kl_internal.upload_objects as c
            where c.upload_id = v_upload_id
        );

    perform kl_internal.refuse_problem(v_upload_id);
    perform kl_internal.keep_dependency_sets(p_draft.state_id, v_upload_id);

    closed_count := 0;
    changed_digest := 0;
    if v_open > 0 then
        select m.marked_count, m.row_count
        into v_marked_count, v_same_count
        from kl_internal.mark_unchanged(p_draft.state_id, v_upload_id) as m;

        select c.closed_count, c.closed_digest
        into closed_count, changed_digest
        from kl_internal.close_resources(
            p_draft.state_id,
            v_upload_id,
            p_draft.version_no,
            v_open - p_comparison.matched_rows - v_same_count
        ) as c;
    end if;

    select o.opened_count, o.opened_digest
    into opened_count, v_opened_digest
    from kl_internal.open_resources(p_draft.state_id, v_upload_id, p_draft.version_no) as o;
    select
        coalesce(sum(b.row_count), 0)::bigint as row_count,
        coalesce(bit_xor(b.content_digest), 0) as digest
    into v_claimed
    from kl_internal.upload_batches as b
    where b.upload_id = v_upload_id;

    opened_count := opened_count + v_claimed.row_count;
    changed_digest := changed_digest # v_opened_digest # v_claimed.digest;

    -- Each object that stays must be one row that stays.
    if p_objects - cardinality(p_comparison.unmatched) + v_marked_count
        <> v_open - closed_count then
        perform kl_internal.refuse_duplicate(p_draft.state_id, v_upload_id, p_draft.version_no);
    end if;

    perform kl_internal.require_one_provider_each(
        p_draft.state_id, v_upload_id, p_draft.version_no
    );
exception
    when unique_violation then
        perform kl_internal.refuse_duplicate(p_draft.state_id, v_upload_id, p_draft.version_no);
end;
$$;

comment on function kl_internal.replace_resources(
    kl_internal.state_versions,
    kl_internal.state_versions,
    kl_internal.upload_comparisons,
    bigint
) is
'Bring the resource rows of a state to what an upload says: close, then open.

Raises: KL001.';
