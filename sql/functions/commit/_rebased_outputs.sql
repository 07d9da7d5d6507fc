create or replace function kl_internal.rebased_outputs(
    p_base       kl_internal.state_versions,
    p_current_no bigint,
    p_run_id     uuid,
    p_upload_id  uuid,
    p_delete_set text[],
    out keys      text[],
    out conflicts text[]
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_others boolean := kl_internal.others_wrote_since(p_base, p_current_no, p_run_id);
begin
    if p_delete_set = '{}' and not exists (
        select
        from kl_internal.staged_slices as s
        where s.upload_id = p_upload_id
    ) then
        keys := '{}';
        return;
    end if;

    with named as materialized (
        -- content is null for an output that is to go.
        select
            p.name_key,
            p.name,
            (p.value, p.type, p.sensitive, p.extra, p.escaped)::text as content
        from kl_internal.parsed_outputs(p_upload_id) as p
        union all
        select
            kl_internal.bounded_text(d.name),
            d.name,
            null
        from unnest(p_delete_set) as d (name)
    ),
    known as materialized (
        select
            o.name_key,
            o.opened_no,
            o.closed_no,
            (o.value, o.type, o.sensitive, o.extra, o.escaped)::text as content
        from kl_internal.outputs as o
        where v_others
            and o.state_id = p_base.state_id
            and (o.closed_no is null or o.closed_no > p_base.version_no)
    ),
    compared as (
        select
            n.name_key,
            n.name,
            n.content,
            exists (
                select
                from known as k
                inner join kl_internal.state_versions as v
                    on v.state_id = p_base.state_id
                    and v.version_no in (k.opened_no, k.closed_no)
                where k.name_key = n.name_key
                    and v.version_no > p_base.version_no
                    and v.run_id is distinct from p_run_id
            ) as is_moved,
            (
                select k.content
                from known as k
                where k.name_key = n.name_key
                    and k.opened_no <= p_base.version_no
            ) as base_content,
            (
                select k.content
                from known as k
                where k.name_key = n.name_key
                    and k.closed_no is null
            ) as current_content
        from named as n
    )
    -- What the client left as it was in the base is not written over what somebody else made of it.
    select
        coalesce(array_agg(c.name_key) filter (where not c.is_moved), '{}'),
        array_agg(
            'output.' || kl_internal.unescape_json(c.name) order by c.name collate "C"
        ) filter (
            where c.is_moved
                and c.content is distinct from c.base_content
                and c.content is distinct from c.current_content
        )
    into keys, conflicts
    from compared as c;
end;
$$;

comment on function kl_internal.rebased_outputs(
    kl_internal.state_versions, bigint, uuid, uuid, text[]
) is
'The name keys of the outputs that a delta really changes, compared with its base.

conflicts: those that somebody else changed since, otherwise than the delta does; null for none.
Raises: KL001.';
