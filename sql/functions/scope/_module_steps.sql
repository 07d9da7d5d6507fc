create or replace function kl_internal.module_steps(p_path text, p_count bigint)
returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_steps text;
begin
    if p_count = 0 then
        return '';
    end if;

    -- A step of U+0008 and "#" stands for a hash of steps; paths beyond 1000 bytes may have one.
    v_steps := substring(
        p_path
        from format(
            E'^(?:\x06(?!\x08#)[^\x01]*\x01(?:\x02|[\x03\x04][^\x01]*\x01)){%s}',
            least(p_count, 255)
        )
    );
    return case when octet_length(v_steps) <= 1000 then v_steps else '' end;
end;
$$;

comment on function kl_internal.module_steps(text, bigint) is
'The first module steps of a path, with their keys; empty when it has fewer or they are too long.';
