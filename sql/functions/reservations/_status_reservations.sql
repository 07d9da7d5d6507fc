create or replace function kl_internal.status_reservations(p_state_id uuid)
returns jsonb
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := kl_internal.clock();
begin
    return (
        select coalesce(
            jsonb_agg(
                jsonb_build_object(
                    'address_glob', r.address_glob,
                    'mode', r.mode,
                    'widened', r.widened,
                    'holder', r.holder,
                    'apply_id', r.apply_id,
                    'acquired_at', kl_internal.wire_time(r.acquired_at),
                    'expires_at', kl_internal.wire_time(r.expires_at),
                    'seconds_left', extract(epoch from r.expires_at - v_now)::bigint
                )
                order by r.apply_id, r.address_glob, r.id
            ),
            '[]'
        )
        from kl_internal.resource_reservations as r
        where r.state_id = p_state_id
            and r.expires_at > v_now
    );
end;
$$;

comment on function kl_internal.status_reservations(uuid) is
'The live reservations of a state, as kl.state_status shows them.';
