create or replace function kl_internal.raise_reserved(
    p_state_id  uuid,
    p_apply_id  uuid,
    p_paths     text[],
    p_addresses text[]
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_conflicts jsonb := kl_internal.others_scopes(
        p_state_id, p_apply_id, p_paths[:1000]
    );
begin
    raise exception using
        errcode = 'KL301',
        message = format(
            '%s is reserved by %s until %s; wait for it to end; nothing was stored',
            coalesce(p_addresses[1], 'the state'),
            coalesce(v_conflicts #>> '{0,holder}', 'another run'),
            v_conflicts #>> '{0,expires_at}'
        ),
        detail = jsonb_build_object(
            'addresses', p_addresses[:100],
            'conflicts', v_conflicts
        )::text;
end;
$$;

comment on function kl_internal.raise_reserved(uuid, uuid, text[], text[]) is
'Refuse what other runs have reserved, naming them. Never returns.

Raises: KL301.';
