create or replace function kl_internal.is_unkeyed_call(
    p_state_id        uuid,
    p_call            text,
    p_unkeyed_modules text[]
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_key constant text := E'(\x06[^\x01]*\x01)(?:\x02|[\x03\x04][^\x01]*\x01)';
begin
    if exists (
        select
        from kl_internal.resources as r
        where r.state_id = p_state_id
            and r.closed_no is null
            and r.path >= p_call || E'\x03'
            and r.path < p_call || E'\x05'
    ) then
        return false;
    end if;

    return exists (
        select
        from kl_internal.resources as r
        where r.state_id = p_state_id
            and r.closed_no is null
            and r.path >= p_call || E'\x02'
            and r.path < p_call || E'\x03'
    ) or exists (
        select
        from unnest(p_unkeyed_modules) as u (address)
        cross join lateral kl_internal.parse_module(u.address) as m
        where regexp_replace(m.module_path, v_key, E'\\1', 'g')
            = regexp_replace(p_call, v_key, E'\\1', 'g')
    );
end;
$$;

comment on function kl_internal.is_unkeyed_call(uuid, text, text[]) is
'Whether a module call is known to have one instance, without key: its state or its client says so.

p_call: its path up to the key. A keyed instance in the state refutes the client. Raises: KL001.';
