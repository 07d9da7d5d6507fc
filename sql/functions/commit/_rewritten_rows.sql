create or replace function kl_internal.rewritten_rows(
    p_from_id uuid,
    p_to_id   uuid,
    p_rows    kl_internal.resources[],
    p_moves   kl_internal.row_move[]
)
returns kl_internal.resources[]
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_old_ids bigint[];
    v_new_ids bigint[];
begin
    select
        array_agg(k.old_id),
        array_agg(k.new_id)
    into v_old_ids, v_new_ids
    from kl_internal.keep_renamed_lists(
        p_from_id,
        p_to_id,
        array(select r.dependency_set_id from unnest(p_rows) as r),
        p_moves
    ) as k;

    return array(
        select jsonb_populate_record(
            r,
            jsonb_build_object(
                'dependency_set_id',
                v_new_ids[array_position(v_old_ids, r.dependency_set_id)]
            )
        )
        from unnest(p_rows) as r
        order by r.path
    );
end;
$$;

comment on function kl_internal.rewritten_rows(
    uuid, uuid, kl_internal.resources[], kl_internal.row_move[]
) is
'Rows of one state for another, or the same, with dependencies that name what moves as it will be.';
