-- requires: readers/_related_objects
create or replace function kl.dependencies_of(
    p_state   text,
    p_address text,
    p_depth   integer default null
)
returns table (address text, config_address text, type text, depth integer)
language sql
stable
security definer
rows 100
set search_path = pg_catalog, pg_temp
as $$
    select r.address, r.config_address, r.type, r.depth
    from kl_internal.related_objects(p_state, p_address, false) as r
    where p_depth is null
        or r.depth <= p_depth
    order by r.depth, r.path;
$$;

comment on function kl.dependencies_of(text, text, integer) is
'What a resource depends on, down to p_depth steps, on whatever way (null: all), nearest first.

depth: the number of steps of the longest way. address: null where the state has no such resource.
Stored dependencies have no instance keys, so all instances of one count.
Raises: KL001, KL101, KL102, KL201, KL203. Callers: analysts, server, CLI.';
