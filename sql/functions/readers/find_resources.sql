-- requires: states/resources.view
create or replace function kl.find_resources(p_type text, p_filter jsonb default '{}')
returns table (
    state_id     uuid,
    state_name   text,
    address      text,
    deposed_key  text,
    module       text,
    provider     text,
    tainted      boolean,
    attributes   jsonb
)
language sql
stable
as $$
    select
        r.state_id,
        r.state_name,
        r.address,
        r.deposed_key,
        r.module,
        r.provider,
        r.tainted,
        r.attributes
    from kl.resources as r
    where r.type = p_type
        and r.attributes @> p_filter;
$$;

comment on function kl.find_resources(text, jsonb) is
'Current resources of a type in all states whose attributes contain the filter.

p_filter as for jsonb containment: {"versioning": [{"enabled": true}]}. It sees what analysts see:
a masked value only equals "(sensitive value)".
Raises: nothing of its own. Callers: analysts, server, CLI.';
