create or replace function kl_internal.known_path(
    p_state_id uuid,
    p_state    text,
    p_address  text
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_wanted   record;
    v_composed text;
    v_path     text;
begin
    v_wanted := kl_internal.parse_address(p_address);
    if exists (
        select
        from kl_internal.resources as r
        where r.state_id = p_state_id
            and r.path >= v_wanted.path
            and r.path < v_wanted.path || E'\x08'
            and r.closed_no is null
    ) or exists (
        select
        from kl_internal.resources as r
        where r.state_id = p_state_id
            and r.path >= v_wanted.path
            and r.path < v_wanted.path || E'\x08'
            and r.closed_no is not null
    ) then
        return v_wanted.path;
    end if;

    -- Terraform composes what people type; what a state has may be spelt otherwise.
    v_composed := normalize(v_wanted.address, nfc);
    select min(r.path)
    into v_path
    from kl_internal.resources as r
    where r.state_id = p_state_id
        and hashtextextended(r.config_address, 0) in (
            hashtextextended(v_wanted.config_address, 0),
            hashtextextended(normalize(v_wanted.config_address, nfc), 0)
        )
        and r.closed_no is null
        and r.deposed = ''
        and v_composed !~ '^[\x01-\x7f]*$'
        and normalize(r.address, nfc) = v_composed
    having count(*) = 1;

    if v_path is not null then
        return v_path;
    end if;

    raise exception using
        errcode = 'KL203',
        message = format(
            'state %s has never had %s', to_json(p_state), left(v_wanted.address, 400)
        ),
        detail = jsonb_build_object(
            'state', p_state,
            'address', left(v_wanted.address, 4000)
        )::text;
end;
$$;

comment on function kl_internal.known_path(uuid, text, text) is
'See kl.known_path; for who has the state already, p_state being what the caller calls it.

Raises: KL001, KL203.';
