-- requires: json/_same_json
create or replace function kl_internal.compare_delta(
    p_state_id        uuid,
    p_upload_id       uuid,
    out may_be_same   boolean,
    out may_part      boolean,
    out has_new_lists boolean
)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    select
        bool_or(
            case
                when r.escaped = u.escaped then kl_internal.same_json(
                    coalesce(r.attributes, '{}'), coalesce(u.attributes, '{}'), r.escaped
                )
            end
        ),
        bool_or(r.id is null or r.provider is distinct from u.provider),
        exists (
            select
            from kl_internal.upload_dependencies as d
            where d.upload_id = p_upload_id
                and d.dependency_set_id is null
        )
    from kl_internal.upload_objects as u
    left join kl_internal.resources as r
        on r.state_id = p_state_id
        and r.closed_no is null
        and r.path = u.path
    where u.upload_id = p_upload_id
        and u.path is not null;
$$;

comment on function kl_internal.compare_delta(uuid, uuid) is
'What is worth a closer look in a staged delta beside the open rows; one statement for nearly all.

may_be_same: an object has the attributes of its row, so that the row may stay
(kl_internal.mark_unchanged). may_part: one is new or has another provider than its row, so that its
resource may get two (kl_internal.require_sibling_providers). has_new_lists: of dependencies, for
kl_internal.keep_dependency_sets.';
