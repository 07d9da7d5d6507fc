create or replace function kl.refresh_page(
    p_refresh_run_id uuid,
    p_provider       text,
    p_after          text,
    p_limit          integer
)
returns table (
    resource_id              bigint,
    path                     text,
    address                  text,
    type                     text,
    deposed                  text,
    schema_version           numeric,
    attributes               text,
    attributes_flat          text,
    sensitive_attributes     text,
    private                  text,
    identity                 text,
    identity_schema_version  numeric
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set enable_sort = off  -- a page comes in index order, even of a state that statistics do not know
as $$
#variable_conflict use_column
declare
    v_run   kl_internal.refresh_runs%rowtype;
    v_base  bigint;
begin
    v_run := kl_internal.require_refresh_run(p_refresh_run_id);

    select v.version_no
    into v_base
    from kl_internal.state_versions as v
    where v.id = v_run.from_version_id;

    -- The objects of kl_internal.refresh_objects, each half from the index that holds it.
    return query
    with open_rows as (
        select r.*
        from kl_internal.resources as r
        where r.state_id = v_run.state_id
            and r.closed_no is null
            and r.opened_no <= v_base
            and r.mode = 'managed'
            and coalesce(r.instance_provider, r.provider) = p_provider
            and r.path > p_after collate "C"
        order by r.path
        limit p_limit
    ),
    closed_since as (
        select r.*
        from kl_internal.resources as r
        where r.state_id = v_run.state_id
            and r.closed_no > v_base
            and r.opened_no <= v_base
            and r.mode = 'managed'
            and coalesce(r.instance_provider, r.provider) = p_provider
        offset 0  -- few rows by when they were closed, not all that ever were by path
    ),
    objects as (
        select o.*
        from open_rows as o
        union all
        select c.*
        from closed_since as c
        where c.path > p_after collate "C"
        order by path
        limit p_limit
    )
    select
        o.id,
        o.path,
        o.address,
        o.type,
        o.deposed,
        coalesce(o.schema_version, 0),
        coalesce(o.attributes_spelling, o.attributes)::text,
        kl_internal.json_text(o.attributes_flat, o.escaped),
        kl_internal.json_text(o.sensitive_attributes, o.escaped),
        o.private,
        coalesce(o.identity_spelling, o.identity)::text,
        o.identity_schema_version
    from objects as o
    order by o.path;
end;
$$;

comment on function kl.refresh_page(uuid, text, text, integer) is
'The next objects of one provider that a refresh must read, after the path p_after ('''' at first).

JSON members are texts with every digit; sensitive values are not masked: for who may write.
Locks: none. Raises: KL101, KL102, KL201, KL204, KL306. Callers: CLI.';
