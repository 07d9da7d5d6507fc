-- requires: address/_bounded_text
create or replace function kl_internal.resource_path(
    p_module_path text,
    p_mode        text,
    p_type        text,
    p_name        text
)
returns text
language sql
immutable
parallel safe
as $$
    select p_module_path
        || E'\x05' || pg_catalog.left(p_mode, 1)
        || kl_internal.bounded_text(p_type) || E'\x01'
        || kl_internal.bounded_text(p_name) || E'\x01';
$$;

comment on function kl_internal.resource_path(text, text, text, text) is
'The path of a resource without key: a prefix of the paths of all its objects. Inlined.

A path is the steps of an address in order. Module step: U+0006, name, U+0001, key. Resource step:
U+0005, d or m, type, U+0001, name, U+0001, key. Key: U+0002 for none, U+0003 and an integer, U+0004
and a string and U+0001. A deposed object adds U+0007 and its deposed key. Byte order is document
order, and a step is never the beginning of another step, so containment is having the prefix.';
