-- What is read of a scope once is handed on.
drop function if exists kl_internal.scope_rows(uuid, kl_internal.scope_item[]);
drop function if exists kl_internal.scope_edges(bigint[], text[], text[], text[], text[], text[]);
drop function if exists kl_internal.scope_closure(
    uuid, bigint[], text[], text[], text[], text[], text[]
);
