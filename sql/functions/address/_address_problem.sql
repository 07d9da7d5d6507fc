create or replace function kl_internal.address_problem(p_address text)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
as $body$
    with bare as (
        -- Without what stands between quotes.
        select regexp_replace(p_address, '"(?:[^"\\]|\\.)*"', '""', 'g') as address
    )
    select case
        when coalesce(b.address, '') !~ '\S' then 'it is empty'
        when strpos(b.address, '''') > 0 then 'a text key stands in double quotes'
        when strpos(replace(b.address, '""', ''), '"') > 0 then
            'a double quote is not closed, or stands in the wrong place'
        when strpos(b.address, '*') > 0 then 'wildcards are not understood here'
        when length(translate(b.address, '[', '')) <> length(translate(b.address, ']', '')) then
            'a bracket is not closed'
        when b.address ~ '\[\s*\]' then 'a key is missing between the brackets'
        when b.address ~ '\[\s*-' then 'a number key is not negative'
        when b.address ~ '\[(?!\s*(""|\d+(\.0+)?)\s*\])' then
            'a key is a whole number, or a text in double quotes'
        when b.address ~ '(^|\.)\s*(\.|$)' then 'a name is missing beside a dot'
        when b.address ~ '^\s*(module\s*\.[^.]+(\.|$)\s*)+$' then
            'it names a module; a resource follows as .TYPE.NAME'
        else 'write [module.NAME[KEY].][data.]TYPE.NAME[KEY]'
    end
    from bare as b;
$body$;

comment on function kl_internal.address_problem(text) is
'What is wrong with an address that does not parse.

Callers: kl_internal.parse_address.';
