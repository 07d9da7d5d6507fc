-- What the cached schemas call sensitive, by resource type: [["password"], ["user", "*", "key"]].
-- A type with no such attribute has a row as well: it says that the schema is known.
create table kl_internal.sensitive_types (
    type      text not null primary key,
    patterns  jsonb not null
);
