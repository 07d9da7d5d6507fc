create or replace function kl_internal.envelope_problem(p_document jsonb)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
    select case
        when jsonb_typeof(p_document -> 'encrypted_data') is distinct from 'string'
            or jsonb_typeof(p_document -> 'encryption_version') is distinct from 'string'
            or '' in (p_document ->> 'encrypted_data', p_document ->> 'encryption_version') then
            'the document is half an encrypted state: it needs both encrypted_data and '
            || 'encryption_version as texts'
        when jsonb_typeof(p_document -> 'serial') not in ('number', 'null')
            or p_document ->> 'serial' !~ '^[0-9]{1,20}$'
            or (p_document ->> 'serial')::numeric > 18446744073709551615 then
            'serial ' || left((p_document -> 'serial')::text, 40)
            || ' is not a whole number from 0 to 2^64-1'
        when jsonb_typeof(p_document -> 'lineage') not in ('string', 'null') then
            'lineage must be a text'
    end;
$$;

comment on function kl_internal.envelope_problem(jsonb) is
'What keeps a document from being a state that the client encrypted; null when nothing does.';
