-- Runs and reservations: one attempt each, whatever came of it.

create table kl_internal.apply_runs (
    id                 uuid primary key default gen_random_uuid(),
    state_id           uuid not null,
    from_version_id    uuid,
    to_version_id      uuid,
    actor              text,
    principal          text not null,
    status             text not null default 'running',
    source_serial      numeric(20, 0),
    committed_serial   numeric(20, 0),
    info               jsonb not null default '{}',
    resources_planned  integer,
    resources_applied  integer,
    error_summary      text,
    started_at         timestamptz not null,
    finished_at        timestamptz,
    constraint apply_runs_state_id_fkey
        foreign key (state_id) references kl_internal.states (id) on delete cascade,
    constraint apply_runs_status_check check (
        status in ('running', 'committed', 'failed', 'aborted', 'expired')
    )
);

create index apply_runs_state_id_started_at_idx
    on kl_internal.apply_runs (state_id, started_at);

create table kl_internal.refresh_runs (
    id                    uuid primary key default gen_random_uuid(),
    state_id              uuid not null,
    from_version_id       uuid not null,
    to_version_id         uuid,
    started_at            timestamptz not null default now(),
    finished_at           timestamptz,
    resources_checked     integer,
    resources_changed     integer,
    resources_failed      integer,
    resources_superseded  integer,
    status                text not null default 'running',
    error_summary         text,
    actor                 text,
    created_at            timestamptz not null default now(),
    constraint refresh_runs_state_id_fkey
        foreign key (state_id) references kl_internal.states (id) on delete cascade,
    constraint refresh_runs_from_version_id_fkey
        foreign key (from_version_id) references kl_internal.state_versions (id),
    constraint refresh_runs_to_version_id_fkey
        foreign key (to_version_id) references kl_internal.state_versions (id),
    constraint refresh_runs_status_check check (
        status in ('running', 'succeeded', 'failed', 'cancelled')
    )
);

create index refresh_runs_state_id_started_at_idx
    on kl_internal.refresh_runs (state_id, started_at);

create table kl_internal.resource_reservations (
    id            bigint generated always as identity primary key,
    state_id      uuid not null,
    apply_id      uuid not null,
    address_glob  text not null,
    mode          text not null,
    holder        text,
    principal     text not null,
    acquired_at   timestamptz not null,
    expires_at    timestamptz not null,
    constraint resource_reservations_state_id_fkey
        foreign key (state_id) references kl_internal.states (id) on delete cascade,
    constraint resource_reservations_apply_id_fkey
        foreign key (apply_id) references kl_internal.apply_runs (id) on delete cascade,
    constraint resource_reservations_mode_check check (mode in ('read', 'write'))
);

create index resource_reservations_apply_id_idx
    on kl_internal.resource_reservations (apply_id);
