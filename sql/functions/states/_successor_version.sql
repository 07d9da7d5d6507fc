create or replace function kl_internal.successor_version(
    p_state  kl_internal.states,
    p_source text,
    p_actor  text
)
returns kl_internal.state_versions
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_draft kl_internal.state_versions%rowtype;
begin
    select v.*
    into v_draft
    from kl_internal.state_versions as v
    where v.state_id = p_state.id
        and v.version_no = p_state.current_version_no;

    if v_draft.serial = 18446744073709551615 then
        raise exception using
            errcode = 'KL003',
            message = format(
                'the state has serial %s, the highest there is: only "terraform state push -force" '
                    || 'with a lower one can follow; nothing was stored',
                v_draft.serial
            ),
            detail = jsonb_build_object('current_serial', v_draft.serial)::text;
    end if;

    v_draft.id := gen_random_uuid();
    v_draft.version_no := v_draft.version_no + 1;
    v_draft.serial := v_draft.serial + 1;
    v_draft.source := p_source;
    v_draft.operation := null;
    v_draft.actor := p_actor;
    v_draft.principal := kl_internal.current_principal();
    v_draft.run_id := null;
    v_draft.request_digest := null;
    v_draft.written_scopes := null;
    v_draft.created_at := kl_internal.clock();
    -- Its serial counts from here on, even if the client's document had none.
    return kl_internal.with_member(v_draft, 'serial');
end;
$$;

comment on function kl_internal.successor_version(kl_internal.states, text, text) is
'The version after the current one of a state, with the next serial and otherwise as it is.

The caller holds the state row lock, changes rows, adjusts counts and digest, and records it.
Raises: KL003 (Terraform knows no higher serial).';
