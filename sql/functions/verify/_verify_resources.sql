-- requires: address/_instance_key_path
-- requires: address/_instance_key_text
-- requires: address/_parse_module
-- requires: address/_resource_path
-- requires: verify/_damage_range
-- requires: verify/_path_after
-- requires: verify/_resource_hash
create or replace function kl_internal.verify_resources(
    p_state_id    uuid,
    p_version_no  bigint,
    p_after       text,
    p_limit       integer,
    out checked   bigint,
    out last_path text,
    out damage    jsonb
)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    with bound as (
        select kl_internal.path_after(p_state_id, p_after, p_limit) as path
    ),
    page_rows as materialized (
        -- U+0008 comes after every path.
        select r.*
        from kl_internal.resources as r
        where r.state_id = p_state_id
            and r.closed_no is null
            and r.path > p_after collate "C"
            and r.path <= coalesce((select b.path from bound as b), E'\x08') collate "C"
        union all
        select r.*
        from kl_internal.resources as r
        where r.state_id = p_state_id
            and r.closed_no is not null
            and r.path > p_after collate "C"
            and r.path <= coalesce((select b.path from bound as b), E'\x08') collate "C"
    ),
    hashed as materialized (
        select
            r.id,
            r.content_hash = kl_internal.resource_hash(
                r.path, r.module, r.index_key::text, r.provider, r.instance_provider,
                r.resource_extra::text, r.status, r.schema_version::text, r.attributes::text,
                r.attributes_flat::text, r.sensitive_attributes::text, r.private,
                r.dependency_set_id::text, r.create_before_destroy::text, r.identity::text,
                r.identity_schema_version::text, r.extra::text, r.escaped::text
            ) as is_whole
        from page_rows as r
    ),
    modules as materialized (
        -- Only of whole rows: what is damaged need not parse.
        select
            m.module,
            p.module_path,
            p.address,
            p.config_address
        from (
            select distinct coalesce(r.module, '') as module
            from page_rows as r
            inner join hashed as h on h.id = r.id
            where h.is_whole
        ) as m
        cross join lateral kl_internal.parse_module(m.module) as p
    ),
    findings as (
        select
            r.path,
            r.opened_no,
            r.closed_no,
            r.address,
            r.deposed,
            case
                when not h.is_whole then 'its content was changed'
                when r.path <> kl_internal.resource_path(m.module_path, r.mode, r.type, r.name)
                    || kl_internal.instance_key_path(r.index_key, r.escaped)
                    || coalesce(E'\x07' || nullif(r.deposed, ''), '')
                    or (r.address, r.config_address) is distinct from (
                        concat_ws(
                            '.',
                            nullif(m.address, ''),
                            case when r.mode = 'data' then 'data' end,
                            r.type,
                            r.name || kl_internal.instance_key_text(r.index_key, r.escaped)
                        ),
                        concat_ws(
                            '.',
                            nullif(m.config_address, ''),
                            case when r.mode = 'data' then 'data' end,
                            r.type,
                            r.name
                        )
                    ) then
                    'its address was changed'
                when r.dependency_set_id is not null and d.id is null then
                    'its dependencies are missing'
            end as problem
        from page_rows as r
        inner join hashed as h on h.id = r.id
        left join modules as m on m.module = coalesce(r.module, '')
        left join kl_internal.dependency_sets as d
            on d.id = r.dependency_set_id
            and d.state_id = p_state_id
    )
    select
        (select count(*) from page_rows),
        (select b.path from bound as b),
        (
            select jsonb_agg(
                jsonb_build_object(
                    'kind', 'resource',
                    'address', f.address,
                    'deposed_key', nullif(f.deposed, ''),
                    'problem', f.problem
                ) || kl_internal.damage_range(f.opened_no, f.closed_no, p_version_no)
                order by f.path, f.opened_no
            )
            from findings as f
            where f.problem is not null
                and f.opened_no <= p_version_no
        );
$$;

comment on function kl_internal.verify_resources(uuid, bigint, text, integer) is
'Recompute the hashes and addresses of a state''s resource rows, open and closed, in path order.

p_after is the last_path of the run before, '''' at first; last_path is null at the end. damage is
null or an array of findings.';
