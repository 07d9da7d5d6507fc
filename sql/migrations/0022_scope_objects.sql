-- What an expansion reads of an object it reads once, and hands on.

-- path: of the instance, for a deposed object too. block: the address that stands for what was
-- named, to be reserved: the instance itself, or its block with all instances.
create type kl_internal.scope_object as (
    id                 bigint,
    path               text,
    address            text,
    config_address     text,
    block              text,
    mode               text,
    is_deposed         boolean,
    dependency_set_id  bigint
);

-- object: null where the state has nothing.
alter type kl_internal.scope_need drop attribute id;
alter type kl_internal.scope_need add attribute object kl_internal.scope_object;

-- The lists of a scope contract as JSON arrays, and how many they are; fetches: writes, then reads.
create type kl_internal.scope_lists as (
    fetches        json,
    writes         json,
    reads          json,
    write_count    bigint,
    read_count     bigint,
    absent         json,
    planned        json,
    unknown        json,
    planned_count  bigint,
    unknown_count  bigint,
    removed        json,
    reservations   json
);

drop function if exists kl.expand_scope(text, jsonb, jsonb, boolean);
drop function if exists kl_internal.scope_contract(
    uuid, kl_internal.scope_item[], text[], text[], text[], text[]
);
drop function if exists kl_internal.scope_document(
    kl_internal.states, kl_internal.state_versions, jsonb, timestamptz
);
drop function if exists kl_internal.scope_rows(uuid, kl_internal.scope_item[]);
drop function if exists kl_internal.scope_objects(
    kl_internal.scope_item[], bigint[], bigint[], bigint[]
);
drop function if exists kl_internal.scope_answer(
    kl_internal.scope_item[], bigint[], bigint[], bigint[], kl_internal.scope_absence[]
);
drop function if exists kl_internal.scope_absent(
    kl_internal.scope_item[], integer[], text[], kl_internal.scope_need[], text[]
);
drop function if exists kl_internal.scope_verdict(
    kl_internal.scope_item[], text[], kl_internal.scope_need[], bigint[], bigint[], bigint[],
    kl_internal.scope_absence[], text[]
);
drop function if exists kl_internal.scope_notes(
    kl_internal.scope_item[], text[], kl_internal.scope_need[], bigint[],
    kl_internal.scope_absence[]
);
drop function if exists kl_internal.scope_culprits(kl_internal.scope_absence[], bigint[], text[]);

-- A slice is read once: what it has tells what is missing.
drop function if exists kl_internal.slice_blocks(uuid, text[]);
drop function if exists kl_internal.slice_resources(uuid, text[]);
drop function if exists kl_internal.slice_document(
    kl_internal.states, kl_internal.state_versions, text[], text[], text
);
