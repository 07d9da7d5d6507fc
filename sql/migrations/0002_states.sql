-- Tenancy, states, their versions, locks and the audit trail.

create table kl_internal.workspaces (
    id          uuid primary key default gen_random_uuid(),
    public_id   text not null,
    name        text not null,
    created_at  timestamptz not null default now(),
    constraint workspaces_public_id_key unique (public_id),
    constraint workspaces_name_key unique (name),
    constraint workspaces_public_id_check check (public_id ~ '^ws_[0-9a-z]+$')
);

create table kl_internal.environments (
    id            uuid primary key default gen_random_uuid(),
    workspace_id  uuid not null,
    public_id     text not null,
    name          text not null,
    created_at    timestamptz not null default now(),
    constraint environments_workspace_id_fkey
        foreign key (workspace_id) references kl_internal.workspaces (id),
    constraint environments_public_id_key unique (public_id),
    constraint environments_workspace_id_name_key unique (workspace_id, name),
    constraint environments_public_id_check check (public_id ~ '^env_[0-9a-z]+$')
);

with workspace as (
    insert into kl_internal.workspaces (public_id, name)
    values ('ws_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 12), 'default')
    returning id
)
insert into kl_internal.environments (workspace_id, public_id, name)
select
    w.id,
    'env_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 12),
    'default'
from workspace as w;

-- current_version_no is 0 until the first write: a state that was only locked is a placeholder
-- that no view shows. slices_no goes up when open rows get another slice_hash without a version.
create table kl_internal.states (
    id                  uuid primary key default gen_random_uuid(),
    environment_id      uuid not null,
    name                text not null,
    current_version_no  bigint not null default 0,
    slices_no           bigint not null default 0,
    created_at          timestamptz not null default now(),
    deleted_at          timestamptz,
    constraint states_environment_id_fkey
        foreign key (environment_id) references kl_internal.environments (id),
    constraint states_name_check check (char_length(name) between 1 and 512)
);

create unique index states_environment_id_name_idx
    on kl_internal.states (environment_id, name)
    where deleted_at is null;

-- One immutable write. version_no is ours (1, 2, 3, ... per state); serial is Terraform's and may
-- repeat or fall. omitted names the standard top-level members the document did not have.
create table kl_internal.state_versions (
    id                 uuid primary key default gen_random_uuid(),
    state_id           uuid not null,
    version_no         bigint not null,
    serial             numeric(20, 0) not null,
    lineage            text not null,
    source             text not null,
    operation          text,
    actor              text,
    principal          text not null,
    run_id             uuid,
    terraform_version  text,
    check_results      jsonb,
    extra              jsonb,
    omitted            text[] not null default '{}',
    escaped            boolean not null default false,
    opaque             boolean not null default false,
    object_count       bigint not null default 0,
    output_count       bigint not null default 0,
    content_digest     bigint not null default 0,
    request_digest     bytea,
    created_at         timestamptz not null,
    constraint state_versions_state_id_fkey
        foreign key (state_id) references kl_internal.states (id) on delete cascade,
    constraint state_versions_state_id_version_no_key unique (state_id, version_no),
    constraint state_versions_serial_check check (serial between 0 and 18446744073709551615),
    constraint state_versions_source_check check (
        source in ('import', 'http_backend', 'apply', 'refresh', 'rollback', 'remove', 'move')
    )
);

create index state_versions_state_id_serial_idx
    on kl_internal.state_versions (state_id, serial, version_no);

-- The exact bytes of a document that the client encrypted, in order.
create table kl_internal.opaque_chunks (
    version_id  uuid not null,
    chunk_no    integer not null,
    bytes       bytea not null,
    constraint opaque_chunks_pkey primary key (version_id, chunk_no),
    constraint opaque_chunks_version_id_fkey
        foreign key (version_id) references kl_internal.state_versions (id) on delete cascade
);

alter table kl_internal.opaque_chunks alter column bytes set storage external;

-- lock_info is Terraform's LockInfo as it came (JSON text).
create table kl_internal.state_locks (
    id           uuid primary key default gen_random_uuid(),
    state_id     uuid not null,
    kind         text not null,
    lock_id      text not null,
    lock_info    text not null,
    operation    text,
    who          text,
    principal    text not null,
    apply_id     uuid,
    acquired_at  timestamptz not null,
    constraint state_locks_state_id_fkey
        foreign key (state_id) references kl_internal.states (id) on delete cascade,
    constraint state_locks_kind_check check (kind in ('terraform', 'native')),
    constraint state_locks_apply_id_check check ((kind = 'native') = (apply_id is not null))
);

create unique index state_locks_terraform_idx
    on kl_internal.state_locks (state_id)
    where kind = 'terraform';

create unique index state_locks_native_idx
    on kl_internal.state_locks (state_id, apply_id)
    where kind = 'native';

create table kl_internal.events (
    id           bigint generated always as identity primary key,
    occurred_at  timestamptz not null,
    state_id     uuid,
    state_name   text,
    kind         text not null,
    actor        text,
    principal    text not null,
    detail       jsonb not null default '{}'
);

create index events_state_id_idx on kl_internal.events (state_id, id);

-- Where a write comes from. forced: a lower serial or another lineage is the writer's business.
create type kl_internal.write_origin as (
    source     text,
    operation  text,
    actor      text,
    forced     boolean
);
