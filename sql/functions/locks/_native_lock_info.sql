create or replace function kl_internal.native_lock_info(
    p_state_name    text,
    p_lock_id       text,
    p_who           text,
    p_scope_summary text[]
)
returns text
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_shown  constant integer := 5;
    v_length constant integer := 200;
    v_count  integer := cardinality(p_scope_summary);
    v_scope  text;
begin
    select string_agg(
        case
            when length(s.address) > v_length then left(s.address, v_length) || '…'
            else s.address
        end,
        ', ' order by s.ordinal
    )
    into v_scope
    from unnest(p_scope_summary) with ordinality as s (address, ordinal)
    where s.ordinal <= v_shown;

    return json_build_object(
        'ID', p_lock_id,
        'Operation', 'state engine write',
        'Info', 'a scoped write by kl'
            || coalesce(' of ' || v_scope, '')
            || coalesce(' and ' || nullif(greatest(v_count - v_shown, 0), 0) || ' more', '')
            || '; it ends by itself',
        'Who', coalesce(p_who, ''),
        'Version', '',
        'Created', to_char(
            kl_internal.clock() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
        ),
        'Path', p_state_name
    )::text;
end;
$$;

comment on function kl_internal.native_lock_info(text, text, text, text[]) is
'The LockInfo (JSON text) that a plain Terraform prints while a native write is active.

Info names the first scopes, each cut to what a terminal bears.';
