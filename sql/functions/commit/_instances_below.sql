create or replace function kl_internal.instances_below(
    p_state_id  uuid,
    p_upload_id uuid,
    p_path      text
)
returns table (path text, address text)
language sql
stable
as $$
    select distinct
        pg_catalog.split_part(r.path, E'\x07', 1),
        r.address
    from kl_internal.resources as r
    where r.state_id = p_state_id
        and r.closed_no is null
        and r.path >= p_path collate pg_catalog."C"
        and r.path < p_path || E'\x08' collate pg_catalog."C"
    union
    select
        pg_catalog.split_part(u.path, E'\x07', 1),
        u.address
    from kl_internal.upload_objects as u
    where u.upload_id = p_upload_id
        and u.path >= p_path collate pg_catalog."C"
        and u.path < p_path || E'\x08' collate pg_catalog."C";
$$;

comment on function kl_internal.instances_below(uuid, uuid, text) is
'The instances at or below a path, by the open rows and, unless p_upload_id is null, by an upload.

Inlined.';
