-- requires: readers/state_id, readers/version_no, states/resource_history.view
create or replace function kl.resources_at(p_state text, p_version text default 'current')
returns table (
    address            text,
    deposed_key        text,
    module             text,
    mode               text,
    type               text,
    name               text,
    index_key          jsonb,
    provider           text,
    tainted            boolean,
    attributes         jsonb,
    create_version_no  bigint,
    path               text
)
language sql
stable
as $$
    with place as materialized (
        select
            kl.state_id(p_state) as state_id,
            kl.version_no(p_state, p_version) as version_no
    )
    select
        h.address,
        h.deposed_key,
        h.module,
        h.mode,
        h.type,
        h.name,
        h.index_key,
        h.provider,
        h.tainted,
        h.attributes,
        h.create_version_no,
        h.path
    from kl.resource_history as h
    where h.state_id = (select p.state_id from place as p)
        and h.create_version_no <= (select p.version_no from place as p)
        and (
            h.delete_version_no is null
            or h.delete_version_no > (select p.version_no from place as p)
        )
        and (select p.version_no from place as p) is not null;  -- asked even where there is no row
$$;

comment on function kl.resources_at(text, text) is
'The resource objects of a state as they were at a version; sensitive values are masked.

path sorts them as the document has them; create_version_no: since when they were so.
p_version: as for kl.version_no.
Raises: KL001, KL102, KL201, KL202. Callers: analysts, server, CLI.';
