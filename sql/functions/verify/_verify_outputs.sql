-- requires: verify/_damage_range, verify/_output_hash
create or replace function kl_internal.verify_outputs(
    p_state_id   uuid,
    p_version_no bigint
)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_agg(
        jsonb_build_object(
            'kind', 'output',
            'address', 'output.' || o.name,
            'problem', 'its content was changed'
        ) || kl_internal.damage_range(o.opened_no, o.closed_no, p_version_no)
        order by o.name_key, o.opened_no
    )
    from kl_internal.outputs as o
    where o.state_id = p_state_id
        and o.opened_no <= p_version_no
        and o.content_hash <> kl_internal.output_hash(
            o.name, o.value::text, o.type::text, o.sensitive::text, o.extra::text, o.escaped::text
        );
$$;

comment on function kl_internal.verify_outputs(uuid, bigint) is
'Recompute the hashes of a state''s outputs, open and closed; null or an array of findings.';
