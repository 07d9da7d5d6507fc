create or replace function kl_internal.staged_address(p_header bytea, p_key bytea)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_header jsonb := kl_internal.staged_json(p_header, true);
begin
    return concat_ws(
        '.',
        nullif(v_header ->> 'module', ''),
        case when v_header ->> 'mode' = 'data' then 'data' end,
        v_header ->> 'type',
        v_header ->> 'name'
    ) || kl_internal.instance_key_text(kl_internal.staged_json(p_key, true), true);
exception
    -- Whatever it is that cannot be stored may stand in the address itself.
    when data_exception or program_limit_exceeded or sqlstate 'KL001' then
        return '?';
end;
$$;

comment on function kl_internal.staged_address(bytea, bytea) is
'What to call a staged resource object that is refused, as near to its address as it can be read.

p_header: its resource''s members; p_key: its index_key, or null. ''?'' where neither can be read.';
