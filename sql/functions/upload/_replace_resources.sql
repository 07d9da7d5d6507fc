create or replace function kl_internal.replace_resources(
    p_state_id         uuid,
    p_upload_id        uuid,
    p_ordinals         integer[],
    p_version_no       bigint,
    out closed_count   bigint,
    out opened_count   bigint,
    out changed_digest bigint
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Sent because they differed then, and equal now: another writer brought them in between.
    delete from kl_internal.staged_slices as s
    where s.upload_id = p_upload_id
        and s.kind = 'resource'
        and s.ordinal <> all (p_ordinals)
        and cardinality(p_ordinals) < (
            select count(*)
            from kl_internal.staged_slices as c
            where c.upload_id = p_upload_id
                and c.kind = 'resource'
        );

    perform kl_internal.stage_dependency_sets(p_state_id, p_upload_id);
    perform kl_internal.resolve_upload_objects(p_state_id, p_upload_id);
    perform kl_internal.require_one_object_each(p_state_id, p_upload_id);

    if p_version_no > 1 then
        perform kl_internal.mark_unchanged(p_state_id, p_upload_id);
    end if;

    select c.closed_count, c.closed_digest
    into closed_count, changed_digest
    from kl_internal.close_resources(p_state_id, p_upload_id, p_version_no) as c;

    select count(*)
    into opened_count
    from kl_internal.upload_objects as u
    where u.upload_id = p_upload_id
        and not u.unchanged;

    if opened_count > 0 then
        changed_digest := changed_digest
            # kl_internal.open_resources(p_state_id, p_upload_id, p_version_no);
        perform kl_internal.require_one_provider_each(p_state_id, p_upload_id);
    end if;
exception
    when untranslatable_character or invalid_text_representation or character_not_in_repertoire
        or numeric_value_out_of_range or program_limit_exceeded or statement_too_complex then
        raise exception using
            errcode = 'KL001',
            message = format(
                'a resource object cannot be stored (%s); nothing was stored', sqlerrm
            ),
            detail = jsonb_build_object('sqlstate', sqlstate)::text;
end;
$$;

comment on function kl_internal.replace_resources(uuid, uuid, integer[], bigint) is
'Bring the resource rows of a state to what an upload says: close, then open.

Raises: KL001.';
