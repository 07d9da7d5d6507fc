create or replace function kl_internal.staged_document(
    p_upload_id           uuid,
    out serial            numeric,
    out lineage           text,
    out terraform_version text,
    out check_results     jsonb,
    out extra             jsonb,
    out omitted           text[],
    out escaped           boolean,
    out opaque            boolean
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_text     text;
    v_document jsonb;
    v_problem  text;
begin
    select convert_from(s.slice, 'UTF8')
    into v_text
    from kl_internal.staged_slices as s
    where s.upload_id = p_upload_id
        and s.kind = 'document';

    escaped := kl_internal.needs_escape(v_text);
    if escaped then
        v_document := kl_internal.escaped_jsonb(v_text);
        v_text := v_document::text;
    else
        v_document := v_text::jsonb;
    end if;
    opaque := v_document ?| array['encrypted_data', 'encryption_version'];
    v_problem := case
        when opaque then kl_internal.envelope_problem(v_document)
        else kl_internal.document_problem(v_document, v_text::json)
    end;
    if v_problem is not null then
        raise exception using
            errcode = 'KL001',
            message = v_problem || '; nothing was stored',
            detail = '{}';
    end if;

    serial := coalesce((nullif(v_document -> 'serial', 'null'))::numeric, 0);
    lineage := coalesce(v_document ->> 'lineage', '');
    if opaque then
        omitted := '{}';
        return;
    end if;

    terraform_version := v_document ->> 'terraform_version';
    check_results := v_document -> 'check_results';
    select coalesce(array_agg(m.member), '{}')
    into omitted
    from unnest(array['terraform_version', 'serial', 'lineage', 'outputs', 'resources',
        'check_results']) as m (member)
    where not v_document ? m.member;
    extra := nullif(
        v_document - array['version', 'terraform_version', 'serial', 'lineage', 'outputs',
            'resources', 'check_results']
            || kl_internal.null_members(
                v_document,
                array['terraform_version', 'serial', 'lineage', 'outputs', 'resources']
            ),
        '{}'
    );
end;
$$;

comment on function kl_internal.staged_document(uuid) is
'The top-level members of an uploaded document, checked as Terraform checks them on reading.

outputs and resources stand in it as null or {} and [] only, to say whether they were there; their
content is staged beside it. extra: unknown members and nulls; omitted: standard members that were
not there. Raises: KL001.';
