create or replace function kl_internal.stage_in_place(
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
returns boolean
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_state_id uuid;
    v_bodies   jsonb[];
    v_lists    record;
begin
    -- Held until these rows are committed: whoever ends the claim waits for them.
    select c.state_id
    into v_state_id
    from kl_internal.upload_claims as c
    where c.upload_id = p_upload_id
    for key share;

    if not found then
        return false;
    end if;

    v_bodies := kl_internal.parsed_bodies(p_slices, p_forms, false);
    select k.list_digests, k.set_ids
    into v_lists
    from kl_internal.keep_lists(v_state_id, v_bodies) as k;

    perform kl_internal.stage_claimed(
        p_upload_id, v_state_id, p_ordinals, p_blocks, p_forms, p_headers, v_bodies, p_keys,
        p_attributes, p_identities, p_digests, v_lists.list_digests, v_lists.set_ids
    );
    -- The commit of the version is waited for, and everything before it with it.
    perform set_config('synchronous_commit', 'off', true);
    return true;
exception
    when unique_violation or deadlock_detected then
        -- Sent again, or an object is there twice: the commit looks at the second case. Two calls
        -- that bring each other's objects wait for each other.
        return exists (
            select
            from kl_internal.upload_batches as b
            where b.upload_id = p_upload_id
                and b.ordinals && p_ordinals
        );
    when sqlstate 'KL001' or untranslatable_character or invalid_text_representation
        or character_not_in_repertoire or numeric_value_out_of_range or program_limit_exceeded
        or statement_too_complex then
        return false;
end;
$$;

comment on function kl_internal.stage_in_place(
    uuid, integer[], integer[], integer[], bytea[], bytea[], bytea[], bytea[], bytea[], bytea[]
) is
'Put objects where they will stay, if the upload has a claim; false: they go to upload_objects.

So do those of a call that holds what is refused, which is noted there.
Locks: the claim, shared.';
