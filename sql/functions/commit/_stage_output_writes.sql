create or replace function kl_internal.stage_output_writes(
    p_upload_id uuid,
    p_delta     kl_internal.delta
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_pointer text := case when p_delta.is_whole then '/delta/raw_state/outputs/'
        else '/delta/output_writes/'
    end;
    v_odd     text;
    v_message text;
    v_detail  text;
begin
    select kl_internal.unmasked_text(to_json(o.name), p_delta.mark)
    into v_odd
    from json_each(p_delta.output_writes) as o (name, value)
    where json_typeof(o.value) <> 'object'
    limit 1;

    if found then
        perform kl_internal.refuse_member(
            v_pointer || replace(replace(v_odd, '~', '~0'), '/', '~1'), 'must be an object'
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
    perform from kl_internal.parsed_outputs(p_upload_id);
exception
    when sqlstate 'KL001' then
        get stacked diagnostics
            v_message = message_text,
            v_detail = pg_exception_detail;
        v_odd := v_detail::jsonb ->> 'output';
        raise exception using
            errcode = 'KL001',
            message = v_message,
            detail = (
                jsonb_build_object(
                    'pointer', v_pointer || replace(replace(v_odd, '~', '~0'), '/', '~1')
                ) || v_detail::jsonb
            )::text;
end;
$$;

comment on function kl_internal.stage_output_writes(uuid, kl_internal.delta) is
'Put the outputs that a delta writes into the stage, as if they were a document''s.

Raises: KL001.';
