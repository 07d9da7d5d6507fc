-- Refresh: cached provider schemas, provider configurations, staged results, acknowledgements.

create table kl_internal.provider_schemas (
    id            bigint generated always as identity primary key,
    source        text not null,
    version       text not null,
    protocol      integer not null,
    provider      jsonb not null,
    fetched_at    timestamptz not null,
    constraint provider_schemas_source_version_key unique (source, version),
    constraint provider_schemas_protocol_check check (protocol in (5, 6))
);

-- One row per resource type: a refresh loads only the types that its state uses.
create table kl_internal.provider_resource_schemas (
    provider_schema_id  bigint not null,
    type                text not null,
    schema              jsonb not null,
    constraint provider_resource_schemas_pkey primary key (provider_schema_id, type),
    constraint provider_resource_schemas_provider_schema_id_fkey
        foreign key (provider_schema_id)
        references kl_internal.provider_schemas (id) on delete cascade
);

-- provider: the full address, alias and module path included. config: values, or {"env": NAME}.
create table kl_internal.provider_configs (
    state_id    uuid not null,
    provider    text not null,
    config      jsonb not null,
    actor       text,
    updated_at  timestamptz not null,
    constraint provider_configs_pkey primary key (state_id, provider),
    constraint provider_configs_state_id_fkey
        foreign key (state_id) references kl_internal.states (id) on delete cascade
);

create table kl_internal.drift_acks (
    state_id         uuid not null,
    path             text collate "C" not null,
    version_id       uuid not null,
    reason           text not null,
    actor            text,
    acknowledged_at  timestamptz not null,
    constraint drift_acks_pkey primary key (state_id, path, version_id),
    constraint drift_acks_state_id_fkey
        foreign key (state_id) references kl_internal.states (id) on delete cascade,
    constraint drift_acks_version_id_fkey
        foreign key (version_id) references kl_internal.state_versions (id) on delete cascade
);

-- Resource schemas of one provider on their way in; bytea, as all staging.
create unlogged table kl_internal.staged_schemas (
    upload_id  uuid not null,
    type       text not null,
    schema     bytea not null,
    staged_at  timestamptz not null default now(),
    constraint staged_schemas_pkey primary key (upload_id, type)
);

-- What a refresh found out about each object. outcome: read, gone or failed. prior: the stored
-- attributes in the codec's canonical form (sets in order, absent attributes null).
create unlogged table kl_internal.staged_reads (
    refresh_run_id           uuid not null,
    resource_id              bigint not null,
    outcome                  text not null,
    schema_version           numeric(20, 0),
    attributes               bytea,
    prior                    bytea,
    sensitive_attributes     bytea,
    private                  text,
    identity                 bytea,
    identity_schema_version  numeric(20, 0),
    error                    text,
    staged_at                timestamptz not null default now(),
    constraint staged_reads_pkey primary key (refresh_run_id, resource_id),
    constraint staged_reads_outcome_check check (outcome in ('read', 'gone', 'failed'))
);
