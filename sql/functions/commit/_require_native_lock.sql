create or replace function kl_internal.require_native_lock(p_run kl_internal.apply_runs)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_plain kl_internal.state_locks%rowtype;
begin
    if exists (
        select
        from kl_internal.state_locks as l
        where l.state_id = p_run.state_id
            and l.kind = 'native'
            and l.apply_id = p_run.id
    ) then
        return;
    end if;

    v_plain := kl_internal.terraform_lock(p_run.state_id);
    if v_plain.id is not null then
        perform kl_internal.raise_locked(v_plain);
    end if;

    raise exception using
        errcode = 'KL305',
        message = 'the run does not hold the lock that a plain Terraform sees; acquire it, then '
            || 'commit; nothing was stored',
        detail = jsonb_build_object('apply_id', p_run.id, 'missing', 'terraform_lock')::text;
end;
$$;

comment on function kl_internal.require_native_lock(kl_internal.apply_runs) is
'Check that a run holds its Terraform-visible lock. The caller holds the state row lock.

Raises: KL303 (a plain lock is held instead), KL305.';
