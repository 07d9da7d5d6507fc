-- requires: upload/_insert_parsed
create or replace function kl_internal.stage_parsed(
    p_upload_id  uuid,
    p_ordinals   integer[],
    p_blocks     integer[],
    p_forms      integer[],
    p_headers    bytea[],
    p_bodies     jsonb[],
    p_keys       bytea[],
    p_attributes bytea[],
    p_identities bytea[],
    p_digests    bytea[],
    p_escaped    boolean
)
returns void
language sql
volatile
set search_path = pg_catalog, pg_temp
as $$
    insert into kl_internal.upload_resources (upload_id, config_address, module, provider)
    select distinct
        p_upload_id,
        s.config_address,
        s.module,
        s.provider
    from kl_internal.insert_parsed(
        p_upload_id, p_ordinals, p_blocks, p_forms, p_headers, p_bodies, p_keys, p_attributes,
        p_identities, p_digests, p_escaped
    ) as s
    where s.path is not null;
$$;

comment on function kl_internal.stage_parsed(
    uuid, integer[], integer[], integer[], bytea[], jsonb[], bytea[], bytea[], bytea[], bytea[],
    boolean
) is
'Parse objects of a document into the stage, all in the plain or all in the escaped form.

Raises: KL001; what a cast to json raises.';
