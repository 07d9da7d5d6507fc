-- Names that people give to versions.
create table kl_internal.version_tags (
    state_id    uuid not null,
    name        text not null,
    version_no  bigint not null,
    actor       text,
    principal   text not null,
    created_at  timestamptz not null,
    constraint version_tags_pkey primary key (state_id, name),
    constraint version_tags_name_check check (char_length(name) between 1 and 128),
    constraint version_tags_state_id_version_no_fkey
        foreign key (state_id, version_no)
        references kl_internal.state_versions (state_id, version_no) on delete cascade
);
