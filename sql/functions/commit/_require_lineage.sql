create or replace function kl_internal.require_lineage(
    p_draft           kl_internal.state_versions,
    p_lineage         text,
    p_base_version_id uuid
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    -- A version id is one lineage's; a serial is any lineage's.
    if p_lineage is null and p_base_version_id is null then
        perform kl_internal.refuse_member(
            '/delta/lineage', 'is missing, and only base_serial says what the delta is for'
        );
    end if;

    if p_lineage <> kl_internal.escaped_text(p_draft.lineage, p_draft.escaped) then
        raise exception using
            errcode = 'KL302',
            message = format(
                'the state here has lineage %s, the delta has %s: it is of another state; '
                    || 'nothing was stored',
                to_json(kl_internal.unescape_json(p_draft.lineage)),
                to_json(kl_internal.unescape_json(p_lineage))
            ),
            detail = jsonb_build_object(
                'current_serial', p_draft.serial - 1,
                'current_lineage', p_draft.lineage,
                'lineage', p_lineage
            )::text;
    end if;
end;
$$;

comment on function kl_internal.require_lineage(kl_internal.state_versions, text, uuid) is
'Check that a delta is of the lineage of the version in the making.

p_lineage: in escaped form. Raises: KL001 (nothing says which), KL302.';
