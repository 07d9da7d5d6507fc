create or replace function kl_internal.require_next_serial(
    p_current kl_internal.state_versions,
    p_draft   kl_internal.state_versions
)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_current.id is null
        or (
            p_draft.serial > p_current.serial
            and (p_draft.lineage = p_current.lineage or '' in (p_draft.lineage, p_current.lineage))
        ) then
        return;
    end if;

    raise exception using
        errcode = 'KL302',
        message = case
            when p_draft.lineage not in (p_current.lineage, '') then format(
                'the state here has lineage %s, the document has %s: it is another state; '
                    || 'pull first, or use "terraform state push -force"',
                to_json(kl_internal.unescape_json(p_current.lineage)),
                to_json(kl_internal.unescape_json(p_draft.lineage))
            )
            else format(
                'the state here has serial %s, the document has serial %s: somebody wrote in '
                    || 'between; pull first, or use "terraform state push -force"',
                p_current.serial,
                p_draft.serial
            )
        end,
        detail = jsonb_build_object(
            'current_serial', p_current.serial,
            'serial', p_draft.serial,
            'current_lineage', p_current.lineage,
            'lineage', p_draft.lineage
        )::text;
end;
$$;

comment on function kl_internal.require_next_serial(
    kl_internal.state_versions,
    kl_internal.state_versions
) is
'Check that a document may follow the current version: a higher serial of the same lineage.

Raises: KL302.';
