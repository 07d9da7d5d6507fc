create or replace function kl_internal.drift_kind(
    p_state_id uuid,
    p_path     text,
    p_from_no  bigint,
    p_to_no    bigint
)
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if exists (
        select
        from kl_internal.objects as n
        inner join kl_internal.objects as o
            on o.state_id = n.state_id
            and o.path = n.path
            and o.closed_no = n.opened_no
        where n.state_id = p_state_id
            and n.path = p_path
            and n.opened_no > p_from_no
            and n.opened_no <= p_to_no
            and n.projection <> o.projection
            and (
                (
                    coalesce(n.schema_version, 0) = coalesce(o.schema_version, 0)
                    and o.attributes_flat is null
                )
                or exists (
                    select
                    from kl_internal.upgraded_changes as u
                    where u.state_id = n.state_id
                        and u.path = n.path
                        and u.version_no = n.opened_no
                )
            )
    ) then
        return 'changed';
    end if;

    return 'upgraded';
end;
$$;

comment on function kl_internal.drift_kind(uuid, text, bigint, bigint) is
'changed or upgraded: whether an object whose schema version rose has changed otherwise besides.

p_from_no, p_to_no: the versions that opened its baseline and what is there now.
Definer: a view calls it as its reader.';
