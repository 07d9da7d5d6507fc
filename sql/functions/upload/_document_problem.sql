create or replace function kl_internal.document_problem(p_document jsonb, p_text json)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
    select case
        when not p_document ? 'version' then
            'the document has no "version"; Kilolock keeps state format version 4'
        when p_text ->> 'version' is distinct from '4'
            or jsonb_typeof(p_document -> 'version') <> 'number' then
            'the document has version ' || left((p_text -> 'version')::text, 40)
            || '; Kilolock keeps state format version 4: let a current Terraform write it first'
        when jsonb_typeof(p_document -> 'serial') not in ('number', 'null')
            or p_text ->> 'serial' !~ '^[0-9]{1,20}$'
            or (p_document ->> 'serial')::numeric > 18446744073709551615 then
            'serial ' || left((p_text -> 'serial')::text, 40)
            || ' is not a whole number from 0 to 2^64-1'
        when jsonb_typeof(p_document -> 'lineage') not in ('string', 'null') then
            'lineage must be a text'
        when jsonb_typeof(p_document -> 'terraform_version') not in ('string', 'null')
            or p_document ->> 'terraform_version'
                !~ '^(v?\d+(\.\d+){0,3}(-[0-9A-Za-z.~-]+)?(\+[0-9A-Za-z.~-]+)?)?$' then
            'terraform_version ' || left((p_document -> 'terraform_version')::text, 40)
            || ' is not a version'
        when jsonb_typeof(p_document -> 'outputs') not in ('object', 'null') then
            'outputs must be an object'
        when jsonb_typeof(p_document -> 'resources') not in ('array', 'null') then
            'resources must be a list'
        when jsonb_typeof(p_document -> 'check_results') not in ('array', 'null') then
            'check_results must be a list'
        when jsonb_typeof(p_document -> 'check_results') = 'array' then (
            select p.problem
            from jsonb_array_elements(p_document -> 'check_results') as c (result)
            cross join lateral (
                select case
                    when jsonb_typeof(c.result) <> 'object' then
                        'check_results must be a list of objects'
                    when jsonb_typeof(c.result -> 'object_kind') not in ('string', 'null')
                        or jsonb_typeof(c.result -> 'config_addr') not in ('string', 'null')
                        or jsonb_typeof(c.result -> 'status') not in ('string', 'null')
                        or jsonb_typeof(c.result -> 'objects') not in ('array', 'null') then
                        'check_results must have texts as object_kind, config_addr and status, '
                        || 'and a list as objects'
                    when strpos(c.result ->> 'config_addr', '[') > 0 then
                        'a config_addr in check_results has an instance key'
                end as problem
            ) as p
            where p.problem is not null
            limit 1
        )
    end;
$$;

comment on function kl_internal.document_problem(jsonb, json) is
'What keeps a document''s top level from being a state of format version 4; null for nothing.

p_text: the document as it came: of a number jsonb forgets the spelling, and 1e2 is no serial.';
