-- Native commits: what came in one, and where a whole document may come from.

-- A native commit of a whole document belongs to its run; its digest tells a repeated request.
alter type kl_internal.write_origin add attribute run_id uuid;
alter type kl_internal.write_origin add attribute request_digest bytea;

-- A delta as it came. mark: what stands for escapes that a json function refuses
-- (kl_internal.mask_escapes); null where there are none. is_whole: a whole document came, of which
-- only what write_set names is meant.
create type kl_internal.delta as (
    mark               text,
    is_whole           boolean,
    terraform_version  text,
    lineage            text,
    check_results      json,
    write_set          text[],
    delete_set         text[],
    resources          json,
    output_writes      json,
    output_delete_set  text[]
);

-- A resource row that a move takes: as it is, as it will be; is_whole: with all of its resource.
create type kl_internal.row_move as (
    before    kl_internal.resources,
    after     kl_internal.resources,
    is_whole  boolean
);

-- It can leave alone what a delta does not name.
drop function if exists kl_internal.replace_outputs(uuid, uuid, bigint);
