-- requires: readers/_related_objects
create or replace function kl.blast_radius(p_state text, p_address text)
returns table (address text, config_address text, type text, depth integer)
language sql
stable
security definer
rows 100
set search_path = pg_catalog, pg_temp
as $$
    select r.address, r.config_address, r.type, r.depth
    from kl_internal.related_objects(p_state, p_address, true) as r
    order by r.depth, r.path;
$$;

comment on function kl.blast_radius(text, text) is
'What may break if a resource changes: all that depends on it, on whatever way, nearest first.

depth: the number of steps of the longest way. Stored dependencies have no instance keys, so all
instances of a dependent count. Costs what depends on it, and the distinct lists of the state.
Raises: KL001, KL101, KL102, KL201, KL203. Callers: analysts, server, CLI.';
