-- Slices: what an expansion reads, and the secret that hashes of attributes are keyed with.

-- One thing that a client names. role: write, read, undeployed or removed. path: what it stands for
-- is at or below. keyed: it is one instance. note: why path is wider than what was named.
create type kl_internal.scope_item as (
    role            text,
    address         text,
    config_address  text,
    path            text,
    is_module       boolean,
    keyed           boolean,
    note            text
);

-- One object that a scope depends on, or with a null id a block that the state has nothing of.
-- within: the module instance it is known to be in, as a path. stored: a stored list leads to it.
create type kl_internal.scope_need as (
    config_address  text,
    within          text,
    stored          boolean,
    id              bigint
);

-- What the state does not have. planned: the client says that it is to be created. asked: the scope
-- names it, and does not only depend on it.
create type kl_internal.scope_absence as (
    address         text,
    config_address  text,
    planned         boolean,
    asked           boolean
);

-- The two keys of HMAC-SHA-256 (RFC 2104): a secret of this installation, masked twice.
create table kl_internal.hash_keys (
    only_row   boolean not null primary key default true check (only_row),
    inner_key  bytea   not null,
    outer_key  bytea   not null
);

comment on table kl_internal.hash_keys is
'The secret that attributes_hash is keyed with: a plain hash of a short password is the password.';

insert into kl_internal.hash_keys (inner_key, outer_key)
select
    string_agg(set_byte('\x00', 0, get_byte(s.secret, b.position) # 54), '' order by b.position),
    string_agg(set_byte('\x00', 0, get_byte(s.secret, b.position) # 92), '' order by b.position)
from (
    select
        sha256(convert_to(string_agg(gen_random_uuid()::text, ''), 'UTF8'))
            || decode(repeat('00', 32), 'hex') as secret
    from generate_series(1, 4)
) as s
cross join generate_series(0, 63) as b (position);
