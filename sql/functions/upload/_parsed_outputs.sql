create or replace function kl_internal.parsed_outputs(p_upload_id uuid)
returns table (
    name       text,
    name_key   text,
    value      jsonb,
    type       jsonb,
    sensitive  boolean,
    extra      jsonb,
    escaped    boolean
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_name    text;
    v_problem text;
begin
    for name, v_name, value, escaped in
        select
            kl_internal.staged_json(s.header, e.escaped) #>> '{}',
            convert_from(s.header, 'UTF8'),
            kl_internal.staged_json(s.slice, e.escaped),
            e.escaped
        from kl_internal.staged_slices as s
        cross join lateral (
            select kl_internal.needs_escape(convert_from(s.header, 'UTF8'))
                or kl_internal.needs_escape(convert_from(s.slice, 'UTF8')) as escaped
        ) as e
        where s.upload_id = p_upload_id
            and s.kind = 'output'
    loop
        v_problem := case
            when jsonb_typeof(value) <> 'object' then 'must be an object'
            when not value ? 'value' then 'has no value'
            when value ? 'type' and not kl_internal.is_type(value -> 'type') then
                'has the type ' || left((value -> 'type')::text, 80) || ', which is no type'
            when not value ? 'type' then 'has no type'
            when not kl_internal.conforms(value -> 'value', value -> 'type') then
                'has a value that is not of its type ' || left((value -> 'type')::text, 80)
            when jsonb_typeof(value -> 'sensitive') not in ('boolean', 'null') then
                'sensitive must be true or false'
        end;
        if v_problem is not null then
            raise exception using
                errcode = 'KL001',
                message = format('output %s %s; nothing was stored', left(v_name, 80), v_problem),
                detail = jsonb_build_object('output', name)::text;
        end if;

        name_key := kl_internal.bounded_text(kl_internal.escaped_text(name, escaped));
        type := value -> 'type';
        sensitive := (value ->> 'sensitive')::boolean;
        extra := nullif(
            value - array['value', 'type', 'sensitive']
                || kl_internal.null_members(value, array['sensitive']),
            '{}'
        );
        value := value -> 'value';
        return next;
    end loop;
end;
$$;

comment on function kl_internal.parsed_outputs(uuid) is
'The staged outputs of an upload, parsed into the columns of outputs.

Raises: KL001 (naming the output).';
