create or replace function kl.stage_objects(
    p_name       text,
    p_upload_id  uuid,
    p_ordinals   integer[],
    p_blocks     integer[],
    p_forms      integer[],
    p_headers    bytea[],
    p_slices     bytea[],
    p_keys       bytea[],
    p_attributes bytea[],
    p_identities bytea[],
    p_digests    bytea[]
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform kl_internal.authorize('state:write');
    perform kl_internal.find_state(p_name);

    if kl_internal.needs_escapes(p_headers)
        or kl_internal.needs_escapes(p_slices)
        or kl_internal.needs_escapes(p_keys)
        or kl_internal.needs_escapes(p_attributes)
        or kl_internal.needs_escapes(p_identities) then
        perform kl_internal.stage_by_form(
            p_upload_id, p_ordinals, p_blocks, p_forms, p_headers, p_slices, p_keys,
            p_attributes, p_identities, p_digests
        );
    elsif not kl_internal.stage_in_place(
        p_upload_id, p_ordinals, p_blocks, p_forms, p_headers, p_slices, p_keys, p_attributes,
        p_identities, p_digests
    ) then
        perform kl_internal.stage_noted(
            p_upload_id, p_ordinals, p_blocks, p_forms, p_headers, p_slices, p_keys,
            p_attributes, p_identities, p_digests, false
        );
    end if;
exception
    when unique_violation then
        null;  -- sent again: what is staged stays, and the commit asks for what is not
end;
$$;

comment on function kl.stage_objects(
    text, uuid, integer[], integer[], integer[], bytea[], bytea[], bytea[], bytea[], bytea[],
    bytea[]
) is
'Parse resource objects of a document into the stage of an upload, before any lock is taken.

One object is a place in p_ordinals (where it stands among all), p_blocks (which of p_headers is
its resource''s, from 1), p_forms (which of p_slices is its own: the instance object without
attributes and identity, and without the index_key that is in p_keys; null for a resource without
instances), p_keys (an index_key, or null), p_attributes and p_identities (without white space;
null when absent) and p_digests (SHA-256 over header and instance as they came). Objects may share
a slice. The commit says what is wrong with one.
Locks: the claim of the upload, shared. Raises: KL001 (the name), KL101, KL102, KL201 (no such
environment). Callers: server, CLI.';
