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
as $$
#variable_conflict use_column
begin
    perform kl_internal.require_refresh_run(p_refresh_run_id);

    return query
    select
        o.resource_id,
        o.path,
        o.address,
        o.type,
        o.deposed,
        o.schema_version,
        o.attributes::text,
        kl_internal.json_text(o.attributes_flat, o.escaped),
        kl_internal.json_text(o.sensitive_attributes, o.escaped),
        o.private,
        o.identity::text,
        o.identity_schema_version
    from kl_internal.refresh_objects as o
    where o.refresh_run_id = p_refresh_run_id
        and o.provider = p_provider
        and o.path > p_after collate "C"
    order by o.path
    limit p_limit;
end;
$$;

comment on function kl.refresh_page(uuid, text, text, integer) is
'The next objects of one provider that a refresh must read, after the path p_after ('''' at first).

JSON members are texts with every digit; sensitive values are not masked: for who may write.
Locks: none. Raises: KL101, KL102, KL201, KL204, KL306. Callers: CLI.';
