create or replace function kl_internal.status_locks(p_state_id uuid)
returns jsonb
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        select coalesce(
            jsonb_agg(
                jsonb_build_object(
                    'kind', l.kind,
                    'lock_id', l.lock_id,
                    'operation', l.operation,
                    'who', l.who,
                    'apply_id', l.apply_id,
                    'acquired_at', kl_internal.wire_time(l.acquired_at),
                    'age_seconds',
                        extract(epoch from kl_internal.clock() - l.acquired_at)::bigint
                )
                order by l.kind desc, l.acquired_at, l.id
            ),
            '[]'
        )
        from kl_internal.state_locks as l
        where l.state_id = p_state_id
            and (
                l.kind = 'terraform'
                or exists (
                    select
                    from kl_internal.resource_reservations as r
                    where r.apply_id = l.apply_id
                        and r.expires_at > kl_internal.clock()
                )
            )
    );
end;
$$;

comment on function kl_internal.status_locks(uuid) is
'The Terraform-visible locks of a state with their age, as kl.state_status shows them.';
