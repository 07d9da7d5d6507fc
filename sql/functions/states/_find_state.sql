-- requires: states/_resolve_name
create or replace function kl_internal.find_state(p_name text)
returns kl_internal.states
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    select s.*
    from kl_internal.resolve_name(p_name) as n
    inner join kl_internal.states as s
        on s.environment_id = n.environment_id
        and s.name = n.state_name
        and s.deleted_at is null;
$$;

comment on function kl_internal.find_state(text) is
'The live state of that name, a placeholder included; null where there is none.

Raises: KL001, KL201 (no such environment).';
