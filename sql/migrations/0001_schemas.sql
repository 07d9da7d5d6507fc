-- Runs as kl_owner, which therefore owns both schemas and everything in them.
create schema kl;

comment on schema kl is
'Kilolock: the public views and functions. Everything else is private.';

create schema kl_internal;

comment on schema kl_internal is
'Kilolock: tables, helpers and the ledger. Not an interface.';

-- Global on purpose: a revoke for one schema cannot take away what PUBLIC has by default.
alter default privileges revoke execute on functions from public;

create table kl_internal.migrations (
    name       text        not null primary key,
    checksum   text        not null,
    applied_at timestamptz not null default now()
);

comment on table kl_internal.migrations is
'One row per migration that has run; checksum is the SHA-256 of its file.';

create table kl_internal.deployed_functions (
    only_row   boolean     not null primary key default true check (only_row),
    checksum   text        not null,
    applied_at timestamptz not null default now()
);

comment on table kl_internal.deployed_functions is
'The one row tells which set of functions and views was applied last.';
