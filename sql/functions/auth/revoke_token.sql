create or replace function kl.revoke_token(p_token text)
returns uuid
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_ids uuid[];
begin
    perform kl.require_admin();

    select array_agg(t.id)
    into v_ids
    from kl_internal.api_tokens as t
    where t.revoked_at is null
        and (
            p_token in (t.id::text, t.name, t.hint)
            or t.token_hash = sha256(convert_to(p_token, 'UTF8'))
        );

    if cardinality(coalesce(v_ids, '{}')) <> 1 then
        raise exception using
            errcode = 'KL001',
            message = format(
                '%s live tokens go by %s; name one by its id',
                cardinality(coalesce(v_ids, '{}')),
                to_json(left(p_token, 9))
            ),
            detail = '{}';
    end if;

    update kl_internal.api_tokens as t
    set revoked_at = kl_internal.clock()
    where t.id = v_ids[1];

    perform kl_internal.record_event(
        null, null, 'revoke_token', jsonb_build_object('token_id', v_ids[1])
    );
    return v_ids[1];
end;
$$;

comment on function kl.revoke_token(text) is
'Revoke a token by its id, its name, its hint or the token itself; returns its id.

Locks: none. Raises: KL001 (none or several go by it), KL101, KL102. Callers: server, CLI.';
