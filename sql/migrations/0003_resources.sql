-- Resource objects and outputs with their lifecycles, dependency sets, and upload staging.
--
-- A row is alive from the version that opened it until the one that closed it: the half-open range
-- [opened_no, closed_no) of state_versions.version_no. The content of a row never changes.

create table kl_internal.dependency_sets (
    id                bigint generated always as identity primary key,
    state_id          uuid not null,
    digest            bytea not null,
    addresses         text[] not null,
    config_addresses  text[] not null,
    constraint dependency_sets_state_id_fkey
        foreign key (state_id) references kl_internal.states (id) on delete cascade,
    constraint dependency_sets_state_id_digest_key unique (state_id, digest)
);

-- path: the address and the deposed key as a bounded text whose order is document order and whose
-- prefixes are containment (kl_internal.object_path). deposed is '' for the current object.
-- No foreign keys: rows come from one write path under the state's row lock, and their triggers
-- would cost a fifth of a large upload.
-- attributes and identity are the client's text without white space: Terraform compares bytes. When
-- equal values come in other bytes the row stays, and its spelling is what GET serves from then on.
-- escaped: the jsonb columns hold the escaped form of text that jsonb cannot hold, and attributes
-- and identity need it to become jsonb (kl_internal.escape_json, kl_internal.projected).
-- slice_hash: SHA-256 of the bytes the object last arrived as. content_hash:
-- kl_internal.resource_hash.
create table kl_internal.resources (
    id                       bigint generated always as identity primary key,
    state_id                 uuid not null,
    opened_no                bigint not null,
    closed_no                bigint,
    path                     text collate "C" not null,
    address                  text not null,
    config_address           text not null,
    module                   text,
    mode                     text not null,
    type                     text not null,
    name                     text not null,
    index_key                jsonb,
    deposed                  text not null default '',
    provider                 text,
    instance_provider        text,
    resource_extra           jsonb,
    status                   text,
    schema_version           numeric(20, 0),
    attributes               json,
    attributes_spelling      json,
    attributes_flat          jsonb,
    sensitive_attributes     jsonb,
    private                  text,
    dependency_set_id        bigint,
    create_before_destroy    boolean,
    identity                 json,
    identity_spelling        json,
    identity_schema_version  numeric(20, 0),
    extra                    jsonb,
    escaped                  boolean not null default false,
    slice_hash               bytea,
    content_hash             bigint not null,
    constraint resources_mode_check check (mode in ('managed', 'data')),
    constraint resources_status_check check (status in ('', 'tainted')),
    constraint resources_lifecycle_check check (closed_no > opened_no)
)
with (toast_tuple_target = 8160);  -- compressing every row would double the time of an upload

-- slice_hash is along so that an upload is compared with the open rows from the index.
create unique index resources_open_idx
    on kl_internal.resources (state_id, path)
    include (slice_hash)
    where closed_no is null;

create index resources_closed_idx
    on kl_internal.resources (state_id, path)
    where closed_no is not null;

create index resources_closed_at_idx
    on kl_internal.resources (state_id, closed_no)
    where closed_no is not null;

create index resources_opened_at_idx on kl_internal.resources (state_id, opened_no);

-- A hash, since an address has no bound: compare the text as well.
create index resources_config_address_idx
    on kl_internal.resources (state_id, hashtextextended(config_address, 0))
    where closed_no is null;

-- name_key bounds the name for the index (kl_internal.bounded_text).
create table kl_internal.outputs (
    id            bigint generated always as identity primary key,
    state_id      uuid not null,
    opened_no     bigint not null,
    closed_no     bigint,
    name          text not null,
    name_key      text collate "C" not null,
    value         jsonb not null,
    type          jsonb,
    sensitive     boolean,
    extra         jsonb,
    escaped       boolean not null default false,
    content_hash  bigint not null,
    constraint outputs_state_id_fkey
        foreign key (state_id) references kl_internal.states (id) on delete cascade,
    constraint outputs_lifecycle_check check (closed_no > opened_no)
);

create unique index outputs_open_idx
    on kl_internal.outputs (state_id, name_key)
    where closed_no is null;

create index outputs_closed_at_idx
    on kl_internal.outputs (state_id, closed_no)
    where closed_no is not null;

create index outputs_opened_at_idx on kl_internal.outputs (state_id, opened_no);

-- Upload staging: unlogged, keyed by a random upload id, swept by age. Payloads arrive as bytea, so
-- that no error can print them. Clients fill staged_...; functions fill upload_...

-- Runs of the SHA-256 of the objects of the document (over resource header and slice) in order.
create unlogged table kl_internal.staged_keys (
    upload_id      uuid not null,
    first_ordinal  integer not null,
    digests        bytea[] not null,
    staged_at      timestamptz not null default now(),
    constraint staged_keys_pkey primary key (upload_id, first_ordinal)
);

alter table kl_internal.staged_keys alter column digests set storage external;

-- kind 'document': slice is the top-level object without resources and outputs. 'output': header is
-- the name (a JSON string). 'opaque': a run of bytes.
create unlogged table kl_internal.staged_slices (
    upload_id  uuid not null,
    kind       text not null,
    ordinal    integer not null,
    header     bytea,
    slice      bytea,
    staged_at  timestamptz not null default now(),
    constraint staged_slices_pkey primary key (upload_id, kind, ordinal)
);

alter table kl_internal.staged_slices alter column slice set storage external;

-- Objects as kl.stage_objects parsed them: the columns of resources that do not depend on the
-- state. path is null where there is nothing to store. problem: why the document is refused.
create unlogged table kl_internal.upload_objects (
    upload_id                uuid not null,
    ordinal                  integer not null,
    path                     text collate "C",
    address                  text,
    config_address           text,
    module                   text,
    mode                     text,
    type                     text,
    name                     text,
    index_key                jsonb,
    deposed                  text,
    provider                 text,
    instance_provider        text,
    resource_extra           jsonb,
    status                   text,
    schema_version           numeric,
    attributes               json,
    attributes_flat          jsonb,
    sensitive_attributes     jsonb,
    private                  text,
    list_digest              uuid,
    create_before_destroy    boolean,
    identity                 json,
    identity_schema_version  numeric,
    extra                    jsonb,
    escaped                  boolean not null,
    slice_hash               bytea,
    content_hash             bigint,
    unchanged                boolean not null default false,
    problem                  text,
    problem_detail           jsonb,
    staged_at                timestamptz not null default now(),
    constraint upload_objects_pkey primary key (upload_id, ordinal)
)
with (
    toast_tuple_target = 8160,
    -- Rows stay for seconds: only deleted ones are worth a vacuum, and no plan needs statistics.
    autovacuum_vacuum_insert_threshold = -1,
    autovacuum_analyze_threshold = 2000000000
);

create index upload_objects_problem_idx
    on kl_internal.upload_objects (upload_id, ordinal)
    where problem is not null;

-- The distinct dependencies lists of an upload; two batches at once may both bring one.
create unlogged table kl_internal.upload_dependencies (
    upload_id          uuid not null,
    list_digest        uuid not null,
    digest             bytea not null,
    addresses          text[] not null,
    config_addresses   text[] not null,
    dependency_set_id  bigint,
    staged_at          timestamptz not null default now()
);

create index upload_dependencies_upload_id_list_digest_idx
    on kl_internal.upload_dependencies (upload_id, list_digest);

-- How the keys of an upload compare with the open rows of a state at one moment.
create unlogged table kl_internal.upload_comparisons (
    upload_id     uuid not null,
    state_id      uuid,
    version_no    bigint,
    slices_no     bigint,
    matched_rows  bigint not null,
    unmatched     integer[] not null,
    staged_at     timestamptz not null default now(),
    constraint upload_comparisons_pkey primary key (upload_id)
);
