create or replace function kl_internal.terraform_lock(p_state_id uuid)
returns kl_internal.state_locks
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    select l.*
    from kl_internal.state_locks as l
    where l.state_id = p_state_id
        and l.kind = 'terraform';
$$;

comment on function kl_internal.terraform_lock(uuid) is
'The lock that an unmodified Terraform holds on a state; null when it holds none.';
