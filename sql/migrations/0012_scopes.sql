-- Scopes: reservations as ranges of paths that PostgreSQL itself keeps apart.

-- PostgreSQL gives what stands here to the cluster's first superuser: apart, so that every right on
-- what is in kl_internal stays ours to give.
create schema kl_gist;

comment on schema kl_gist is
'Kilolock: the range type of scopes and the operator classes of its constraint. Not an interface.';

create extension if not exists btree_gist with schema kl_gist;

create type kl_gist.scope_range as range (subtype = text, collation = "C");

comment on type kl_gist.scope_range is
'Everything at and below one path: [path, path || U+0008). All of a state: [empty, unbounded).';

-- path: of what is reserved; '' for all. scope: its range. widened: wider than address_glob says.
-- occupancy: a point of its own for a read, the whole line for a write, so that only reads stand
-- side by side. The order of the columns decides how fast the constraint is checked.
alter table kl_internal.resource_reservations
    add column path text collate "C" not null,
    add column scope kl_gist.scope_range not null,
    add column occupancy int8range not null,
    add column widened boolean not null default false,
    add constraint resource_reservations_scope_occupancy_state_id_apply_id_excl
        exclude using gist (
            scope with &&,
            occupancy with &&,
            state_id with =,
            apply_id with <>
        );

create index resource_reservations_state_id_path_idx
    on kl_internal.resource_reservations (state_id, path);

-- A renewal changes what no index has, and finds room beside the row: no index is touched.
alter table kl_internal.resource_reservations set (fillfactor = 50);

-- Which paths a native commit had reserved for writing; null for a writer of the whole state.
alter table kl_internal.state_versions add column written_scopes kl_gist.scope_multirange;

-- A repeated commit finds what it made.
create index state_versions_run_id_idx
    on kl_internal.state_versions (run_id)
    where run_id is not null;
