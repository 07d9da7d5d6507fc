create or replace function kl_internal.stage_delta(p_upload_id uuid, p_delta kl_internal.delta)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_pointer text := case when p_delta.is_whole then '/delta/raw_state' else '/delta' end;
    v_odd     text;
    v_pieces  record;
begin
    select kl_internal.unmasked_text(to_json(o.name), p_delta.mark)
    into v_odd
    from json_each(p_delta.output_writes) as o (name, value)
    where json_typeof(o.value) <> 'object'
    limit 1;

    if found then
        perform kl_internal.refuse_member(
            v_pointer || case when p_delta.is_whole then '/outputs/' else '/output_writes/' end
                || replace(replace(v_odd, '~', '~0'), '/', '~1'),
            'must be an object'
        );
    end if;

    insert into kl_internal.staged_slices (upload_id, kind, ordinal, header, slice)
    select
        p_upload_id,
        'output',
        row_number() over (),
        convert_to(kl_internal.unmask_escapes(to_json(o.name)::text, p_delta.mark), 'UTF8'),
        convert_to(kl_internal.unmask_escapes(o.value::text, p_delta.mark), 'UTF8')
    from json_each(p_delta.output_writes) as o (name, value);

    select format(
        '/resources/%s%s',
        b.position - 1,
        case when json_typeof(b.resource) = 'object' then '/instances' end
    )
    into v_odd
    from json_array_elements(p_delta.resources) with ordinality as b (resource, position)
    where json_typeof(b.resource) <> 'object'
        or coalesce(json_typeof(b.resource -> 'instances'), 'null') not in ('array', 'null')
    order by b.position
    limit 1;

    if found then
        perform kl_internal.refuse_member(v_pointer || v_odd, 'is not what a resource has there');
    end if;

    select
        array_agg(s.ordinal order by s.ordinal) as ordinals,
        array_agg(s.header order by s.ordinal) as headers,
        array_agg(case when s.slice is not null then s.ordinal end order by s.ordinal) as forms,
        array_agg(s.slice order by s.ordinal) as slices,
        array_agg(null::bytea) as keys,  -- they stay in the slices
        array_agg(s.attributes order by s.ordinal) as attributes,
        array_agg(s.identity order by s.ordinal) as identities,
        array_agg(null::bytea) as digests
    into v_pieces
    from kl_internal.split_resources(p_delta.resources, p_delta.mark) as s;

    if v_pieces.ordinals is null then
        return;
    end if;

    if p_delta.mark is null then
        perform kl_internal.stage_noted(
            p_upload_id, v_pieces.ordinals, v_pieces.ordinals, v_pieces.forms, v_pieces.headers,
            v_pieces.slices, v_pieces.keys, v_pieces.attributes, v_pieces.identities,
            v_pieces.digests, false
        );
    else
        perform kl_internal.stage_by_form(
            p_upload_id, v_pieces.ordinals, v_pieces.ordinals, v_pieces.forms, v_pieces.headers,
            v_pieces.slices, v_pieces.keys, v_pieces.attributes, v_pieces.identities,
            v_pieces.digests
        );
    end if;

    perform kl_internal.refuse_problem(p_upload_id);
end;
$$;

comment on function kl_internal.stage_delta(uuid, kl_internal.delta) is
'Parse the resources and outputs of a delta into the stage, as if they were a document''s.

Raises: KL001.';
