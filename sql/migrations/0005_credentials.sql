-- Credentials: tokens for the server, and which environment an analyst's login sees.

-- environment_id null: the whole installation. state_prefix: only states whose name starts with it.
create table kl_internal.api_tokens (
    id              uuid primary key default gen_random_uuid(),
    name            text not null,
    token_hash      bytea not null,
    hint            text not null,
    environment_id  uuid,
    scopes          text[] not null,
    state_prefix    text,
    created_at      timestamptz not null,
    created_by      text not null,
    expires_at      timestamptz,
    last_used_at    timestamptz,
    revoked_at      timestamptz,
    constraint api_tokens_token_hash_key unique (token_hash),
    constraint api_tokens_environment_id_fkey
        foreign key (environment_id) references kl_internal.environments (id),
    constraint api_tokens_scopes_check check (
        cardinality(scopes) > 0
        and scopes <@ array['state:read', 'state:write', 'outputs:read', 'admin']
    )
);

-- A login named here sees these environments only; any other analyst sees the installation.
create table kl_internal.analyst_environments (
    login           text not null,
    environment_id  uuid not null,
    constraint analyst_environments_pkey primary key (login, environment_id),
    constraint analyst_environments_environment_id_fkey
        foreign key (environment_id) references kl_internal.environments (id)
);

-- What a caller may do, and where: environment_ids and state_prefix null for everywhere.
create type kl_internal.caller_grant as (
    principal        text,
    scopes           text[],
    environment_ids  uuid[],
    state_prefix     text
);
