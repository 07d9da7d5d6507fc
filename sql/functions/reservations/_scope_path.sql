create or replace function kl_internal.scope_path(
    p_state_id        uuid,
    p_glob            text,
    p_unkeyed_modules text[],
    out path          text,
    out widened       boolean,
    out note          text
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_most     constant integer := 900;  -- bytes: an entry of the constraint holds two such texts
    v_whole    text := kl_internal.glob_path(p_glob);
    v_rest     text := v_whole;
    v_step     text[];
    v_resource text;
begin
    path := '';
    widened := false;

    while starts_with(v_rest, E'\x06') loop
        -- The call, its key; a step without name stands for a hash of steps.
        v_step := regexp_match(v_rest, E'^(\x06[^\x01]+\x01)(\x02|[\x03\x04][^\x01]*\x01)');
        exit when starts_with(v_step[1], E'\x06\x08#')
            or octet_length(path || v_step[1] || v_step[2]) > v_most;
        v_rest := substr(v_rest, length(v_step[1] || v_step[2]) + 1);

        if v_step[2] = E'\x02' and (
            v_rest = ''
            or not kl_internal.is_unkeyed_call(p_state_id, path || v_step[1], p_unkeyed_modules)
        ) then
            path := path || v_step[1];
            widened := v_rest <> '';
            note := case when widened then format(
                '%s names no instance of module %s, which may have several: all of them are taken',
                p_glob,
                btrim(v_step[1], E'\x06\x01')
            ) end;
            return;
        end if;

        path := path || v_step[1] || v_step[2];
    end loop;

    if octet_length(v_whole) <= v_most and not starts_with(v_rest, E'\x06') then
        path := v_whole;
        return;
    end if;

    widened := true;
    note := format(
        '%s is longer than a reservation can be: what is around it is taken', p_glob
    );
    v_resource := (regexp_match(v_rest, E'^\x05[^\x01]*\x01[^\x01]*\x01'))[1];
    if octet_length(path || v_resource) <= v_most then
        path := path || v_resource;
    end if;
end;
$$;

comment on function kl_internal.scope_path(uuid, text, text[]) is
'The path that reserving an address_glob takes; widened, with a note, when it is more than it names.

A module step without key is the whole call, unless all its instances are known to be one without
key; what is longer than 900 bytes is cut to whole steps.
p_unkeyed_modules: module calls that the client says have no key. Raises: KL001.';
