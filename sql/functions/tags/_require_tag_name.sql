create or replace function kl_internal.require_tag_name(p_tag text)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_tag ~ '^\S(.*\S)?$'
        and char_length(p_tag) <= 128
        and p_tag !~ '[\x01-\x1f\x7f]'
        and p_tag !~ '^(@.*|v?[0-9]+|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|current)$'
        and kl_internal.read_timestamp(p_tag) is null then
        return;
    end if;

    raise exception using
        errcode = 'KL001',
        message = format(
            '%s cannot be a tag: 1 to 128 characters, none of them control characters, no space at '
                || 'an end, and nothing that means a version already (current, @N, a serial, vN, a '
                || 'version id, a timestamp)',
            coalesce(to_json(left(p_tag, 200))::text, 'null')
        ),
        detail = jsonb_build_object('tag', left(p_tag, 200))::text;
end;
$$;

comment on function kl_internal.require_tag_name(text) is
'Check that a text can be a tag and cannot be taken for another reference to a version.

Raises: KL001.';
