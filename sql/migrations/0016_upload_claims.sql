-- A document for a state that has no version yet is staged where its rows will stay.

-- Who holds one may open rows of version 1 under its state_id: a placeholder's, or one that no
-- state has yet. The commit that makes the version ends the claim; a claim that ends otherwise
-- takes its rows with it. So they are rows of a state without a version, which no reader shows.
-- Logged, as the rows are: after a crash it still says whose they were.
create table kl_internal.upload_claims (
    upload_id  uuid not null,
    state_id   uuid not null,
    staged_at  timestamptz not null default now(),
    constraint upload_claims_pkey primary key (upload_id),
    constraint upload_claims_state_id_key unique (state_id)
);

-- What one call of kl.stage_objects opened under a claim; content_digest: the xor of the hashes.
create unlogged table kl_internal.upload_batches (
    upload_id       uuid not null,
    ordinals        integer[] not null,
    row_count       bigint not null,
    content_digest  bigint not null,
    staged_at       timestamptz not null default now()
);

create index upload_batches_upload_id_idx on kl_internal.upload_batches (upload_id);

-- The resources that an upload brought objects of, once a call.
create unlogged table kl_internal.upload_resources (
    upload_id       uuid not null,
    config_address  text not null,
    module          text,
    provider        text,
    staged_at       timestamptz not null default now()
);

create index upload_resources_upload_id_idx on kl_internal.upload_resources (upload_id);

-- As in resources: a list may come before its state, under a claim.
alter table kl_internal.dependency_sets drop constraint dependency_sets_state_id_fkey;

-- Their arguments changed.
drop function if exists kl.stage_objects(
    text, uuid, integer[], integer[], bytea[], bytea[], bytea[], bytea[], bytea[]
);
drop function if exists kl_internal.stage_by_form(
    uuid, integer[], integer[], bytea[], bytea[], bytea[], bytea[], bytea[]
);
drop function if exists kl_internal.stage_noted(
    uuid, integer[], integer[], bytea[], bytea[], bytea[], bytea[], bytea[], boolean
);
drop function if exists kl_internal.stage_parsed(
    uuid, integer[], integer[], bytea[], bytea[], bytea[], bytea[], bytea[], boolean
);
drop function if exists kl_internal.parsed_objects(
    integer[], integer[], bytea[], bytea[], bytea[], bytea[], bytea[], boolean
);
drop function if exists kl_internal.stage_dependencies(uuid, uuid[], jsonb[]);
drop function if exists kl_internal.lock_or_create_state(text);
