-- requires: upload/_object_hash
create or replace function kl_internal.output_hash(
    p_name      text,
    p_value     text,
    p_type      text,
    p_sensitive text,
    p_extra     text,
    p_escaped   text
)
returns bigint
language sql
immutable
parallel safe
as $$
    select kl_internal.object_hash(array[
        p_name, p_value, p_type, p_sensitive, p_extra, p_escaped
    ]);
$$;

comment on function kl_internal.output_hash(text, text, text, text, text, text) is
'outputs.content_hash from the columns of a row as texts. Inlined.

Who writes a row and who verifies it both call this.';
