create or replace function kl_internal.refuse_problem(p_upload_id uuid)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_problem text;
    v_detail  jsonb;
begin
    select
        u.problem,
        u.problem_detail
    into v_problem, v_detail
    from kl_internal.upload_objects as u
    where u.upload_id = p_upload_id
        and u.problem is not null
    order by u.ordinal
    limit 1;

    if found then
        raise exception using
            errcode = 'KL001',
            message = v_problem,
            detail = coalesce(v_detail, '{}')::text;
    end if;
end;
$$;

comment on function kl_internal.refuse_problem(uuid) is
'Refuse a document for the first of its objects that cannot be stored, if there is one.

Raises: KL001.';
