create or replace function kl_internal.merge_members(
    p_draft kl_internal.state_versions,
    p_delta kl_internal.delta
)
returns kl_internal.state_versions
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_draft   kl_internal.state_versions%rowtype := p_draft;
    v_text    text := kl_internal.unmask_escapes(p_delta.check_results::text, p_delta.mark);
    v_checks  jsonb;
    v_problem text;
begin
    if v_text is null
        and (
            p_delta.terraform_version is null
            or (p_delta.terraform_version = p_draft.terraform_version and not p_draft.escaped)
        ) then
        return p_draft;
    end if;

    if kl_internal.needs_escape(v_text) or strpos(p_delta.terraform_version, chr(64976)) > 0 then
        v_draft := kl_internal.escaped_version(v_draft);
    end if;

    v_checks := case
        when v_draft.escaped then kl_internal.escaped_jsonb(v_text)
        else v_text::jsonb
    end;
    v_problem := kl_internal.document_problem(
        jsonb_build_object(
            'version', 4,
            'terraform_version', p_delta.terraform_version,
            'check_results', v_checks
        ),
        '{"version": 4}'
    );
    if v_problem is not null then
        raise exception using
            errcode = 'KL001',
            message = v_problem || '; nothing was stored',
            detail = jsonb_build_object(
                'pointer',
                case
                    when starts_with(v_problem, 'terraform_version') then '/delta/terraform_version'
                    else '/delta/check_results'
                end
            )::text;
    end if;

    if p_delta.terraform_version is not null then
        v_draft.terraform_version := p_delta.terraform_version;
        v_draft := kl_internal.with_member(v_draft, 'terraform_version');
    end if;

    if v_checks is not null then
        v_draft.check_results := kl_internal.merge_checks(v_draft.check_results, v_checks);
        v_draft := kl_internal.with_member(v_draft, 'check_results');
    end if;

    return v_draft;
end;
$$;

comment on function kl_internal.merge_members(
    kl_internal.state_versions,
    kl_internal.delta
) is
'A version in the making with the top-level members that a delta brings; absent ones stay.

Raises: KL001.';
