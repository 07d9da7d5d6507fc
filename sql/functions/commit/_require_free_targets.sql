create or replace function kl_internal.require_free_targets(
    p_from_id uuid,
    p_to_id   uuid,
    p_moves   kl_internal.row_move[]
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source text;
    v_target text;
begin
    -- Named twice, on either side.
    select
        min((m.before).address),
        min((m.after).address)
    into v_source, v_target
    from unnest(p_moves) as m
    cross join lateral (values ((m.before).path, 1), ((m.after).path, 2)) as p (path, side)
    group by p.path, p.side
    having count(*) > 1
    limit 1;

    if found then
        perform kl_internal.refuse_move(v_source, v_target, 'an address is there twice');
    end if;

    -- A deposed object fills its instance; a whole resource needs the whole place.
    select
        (m.before).address,
        (m.after).address
    into v_source, v_target
    from unnest(p_moves) as m
    cross join lateral (
        select case
            when m.is_whole then
                (regexp_match((m.after).path, E'^(.*\x05[^\x01]*\x01[^\x01]*\x01)'))[1]
            else split_part((m.after).path, E'\x07', 1)
        end as path
    ) as p
    inner join kl_internal.resources as r
        on r.state_id = p_to_id
        and r.closed_no is null
        and r.path >= p.path collate "C"
        and r.path < p.path || E'\x08' collate "C"
    where (p_from_id = p_to_id and (m.before).path = (m.after).path)
        or not exists (
            select
            from unnest(p_moves) as o
            where (o.before).id = r.id
        )
    limit 1;

    if found then
        perform kl_internal.refuse_move(v_source, v_target, 'there is an object already');
    end if;
end;
$$;

comment on function kl_internal.require_free_targets(uuid, uuid, kl_internal.row_move[]) is
'Check that moves end where nothing is, or nothing stays, and that each object has one move.

Raises: KL001.';
