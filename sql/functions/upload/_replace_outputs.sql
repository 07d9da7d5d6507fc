create or replace function kl_internal.replace_outputs(
    p_state_id        uuid,
    p_upload_id       uuid,
    p_version_no      bigint,
    p_only            text[],
    out closed_count  bigint,
    out opened_count  bigint,
    out changed_digest bigint
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_opened_digest bigint;
begin
    with closed as (
        update kl_internal.outputs as o
        set closed_no = p_version_no
        where o.state_id = p_state_id
            and o.closed_no is null
            and (p_only is null or o.name_key = any (p_only))
            and not exists (
                select
                from kl_internal.parsed_outputs(p_upload_id) as p
                where p.name_key = o.name_key
                    and p.value = o.value
                    and p.type is not distinct from o.type
                    and p.sensitive is not distinct from o.sensitive
                    and p.extra is not distinct from o.extra
                    and p.escaped = o.escaped
            )
        returning o.content_hash
    )
    select
        count(*),
        coalesce(bit_xor(c.content_hash), 0)
    into closed_count, changed_digest
    from closed as c;

    with opened as (
        insert into kl_internal.outputs (
            state_id, opened_no, name, name_key, value, type, sensitive, extra, escaped,
            content_hash
        )
        select
            p_state_id, p_version_no, p.name, p.name_key, p.value, p.type, p.sensitive, p.extra,
            p.escaped,
            kl_internal.output_hash(
                p.name, p.value::text, p.type::text, p.sensitive::text, p.extra::text,
                p.escaped::text
            )
        from kl_internal.parsed_outputs(p_upload_id) as p
        where (p_only is null or p.name_key = any (p_only))
            and not exists (
                select
                from kl_internal.outputs as o
                where o.state_id = p_state_id
                    and o.closed_no is null
                    and o.name_key = p.name_key
            )
        returning content_hash
    )
    select
        count(*),
        coalesce(bit_xor(o.content_hash), 0)
    into opened_count, v_opened_digest
    from opened as o;

    changed_digest := changed_digest # v_opened_digest;
end;
$$;

comment on function kl_internal.replace_outputs(uuid, uuid, bigint, text[]) is
'Close the outputs that changed or went, then open what is new; equal ones keep their row.

p_only: the name keys that are meant; null for all, as a whole document has them.
Raises: KL001.';
