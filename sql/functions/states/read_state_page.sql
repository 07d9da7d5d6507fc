create or replace function kl.read_state_page(
    p_state_id   uuid,
    p_version_no bigint,
    p_after      text,
    p_limit      integer
)
returns table (chunk text, last_path text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform kl_internal.authorize_state('state:read', p_state_id);

    return query
    select r.chunk, r.last_path
    from kl_internal.render_objects(p_state_id, p_version_no, p_after, p_limit) as r
    where r.chunk is not null;
end;
$$;

comment on function kl.read_state_page(uuid, bigint, text, integer) is
'The next p_limit objects of a document after the path p_after ('''' at first); no row at the end.

chunk is JSON text to append to the head that kl.read_state gave; last_path is the next p_after.
Locks: none. Raises: KL101, KL102, KL201. Callers: server, CLI.';
