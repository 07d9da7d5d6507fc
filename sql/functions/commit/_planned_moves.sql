create or replace function kl_internal.planned_moves(
    p_from_id uuid,
    p_to_id   uuid,
    p_moves   jsonb
)
returns kl_internal.row_move[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_moves kl_internal.row_move[] := array[]::kl_internal.row_move[];
    v_move  record;
    v_path  text;
    v_whole boolean;
    v_rows  kl_internal.resources[];
begin
    for v_move in
        select
            m.address as source,
            m."to" as target,
            s.*,
            t.mode as to_mode,
            t.type as to_type,
            t.has_key as to_has_key
        from kl_internal.read_moves(p_moves) as m
        cross join lateral kl_internal.parse_address(m.address) as s
        cross join lateral kl_internal.parse_address(m."to") as t
    loop
        v_rows := kl_internal.objects_at(p_from_id, array[v_move.source]);
        -- Without a key it is the instance without key, if there is one; else the whole resource.
        v_path := v_move.path || case when v_move.has_key then '' else E'\x02' end;
        v_whole := not exists (
            select
            from unnest(v_rows) as r
            where split_part(r.path, E'\x07', 1) = v_path
        );

        if strpos(regexp_replace(v_move.target, '"(?:[^"\\]|\\.)*"', '', 'g'), '*') > 0 then
            perform kl_internal.refuse_move(
                v_move.source, v_move.target, 'wildcards are not understood here'
            );
        elsif (v_move.to_mode, v_move.to_type) <> (v_move.mode, v_move.type) then
            perform kl_internal.refuse_move(v_move.source, v_move.target, 'the types differ');
        elsif v_whole and v_move.to_has_key then
            perform kl_internal.refuse_move(
                v_move.source, v_move.target,
                'the source is a whole resource, the target one instance'
            );
        end if;

        v_moves := v_moves || array(
            select row(r, kl_internal.targeted_row(r, v_move.target, v_whole), v_whole)
                ::kl_internal.row_move
            from unnest(v_rows) as r
            where v_whole
                or split_part(r.path, E'\x07', 1) = v_path
            order by r.path
        );
    end loop;

    perform kl_internal.require_free_targets(p_from_id, p_to_id, v_moves);
    return v_moves;
exception
    when sqlstate 'KL001' then
        perform kl_internal.refuse_address(
            array(select m.address from kl_internal.read_moves(p_moves) as m),
            'address',
            '/moves/%s/address'
        );
        perform kl_internal.refuse_address(
            array(select m."to" from kl_internal.read_moves(p_moves) as m),
            'address',
            '/moves/%s/to'
        );
        raise;
end;
$$;

comment on function kl_internal.planned_moves(uuid, uuid, jsonb) is
'The rows that moves take from one state, each as it is and as it will be in the other or the same.

All moves are made at once: targets must be free after all sources have gone.
Raises: KL001, KL203.';
