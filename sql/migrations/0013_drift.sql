-- Drift: whose run a refresh is, what it found besides an upgrade, and indexes for what it left.

-- Null for runs of earlier releases: whoever may write the state may end those.
alter table kl_internal.refresh_runs add column principal text;

-- Objects that a refresh found changed besides what the upgrade of their schema made of them.
create table kl_internal.upgraded_changes (
    state_id    uuid not null,
    path        text collate "C" not null,
    version_no  bigint not null,
    constraint upgraded_changes_pkey primary key (state_id, path, version_no),
    constraint upgraded_changes_state_id_fkey
        foreign key (state_id) references kl_internal.states (id) on delete cascade
);

-- Drift starts from the versions that refreshes made, and ends at those that applies made.
create index state_versions_refresh_idx
    on kl_internal.state_versions (state_id, version_no)
    where source = 'refresh';

create index state_versions_apply_idx
    on kl_internal.state_versions (state_id, version_no)
    where source = 'apply';
