"""Coroutines for the functions of schema `kl` that manage credentials and tenancy."""

from datetime import datetime
from uuid import UUID

from msgspec import Struct
from psycopg.rows import class_row, scalar_row

from pyengine.db import Connection


class NewToken(Struct, frozen=True):
    """A token that was made; its text is shown this once."""

    token_id: UUID
    token: str
    expires_at: datetime | None


class Token(Struct, frozen=True):
    """A token without its text; `hint` is how it begins."""

    token_id: UUID
    name: str
    hint: str
    environment: str | None
    scopes: list[str]
    state_prefix: str | None
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


class Environment(Struct, frozen=True):
    """An environment, or a workspace that has none."""

    environment: str
    workspace_name: str
    environment_name: str | None
    state_count: int


async def create_token(
    conn: Connection,
    name: str,
    scopes: list[str],
    environment: str | None,
    state_prefix: str | None,
    lifetime: str | None,
) -> NewToken:
    """Make a token; `lifetime` is an interval such as `90 days`."""
    async with conn.cursor(row_factory=class_row(NewToken)) as cursor:
        await cursor.execute(
            "select token_id, token, expires_at from kl.create_token(p_name => %(name)s, "
            "p_scopes => %(scopes)s, p_environment => %(environment)s, "
            "p_state_prefix => %(state_prefix)s, p_lifetime => %(lifetime)s::interval)",
            {
                "name": name,
                "scopes": scopes,
                "environment": environment,
                "state_prefix": state_prefix,
                "lifetime": lifetime,
            },
        )
        row = await cursor.fetchone()
    assert row is not None, "the function always returns a row"
    return row


async def list_tokens(conn: Connection) -> list[Token]:
    """Return every token there is or was."""
    async with conn.cursor(row_factory=class_row(Token)) as cursor:
        await cursor.execute(
            "select token_id, name, hint, environment, scopes, state_prefix, created_at, "
            "created_by, expires_at, last_used_at, revoked_at from kl.list_tokens()"
        )
        return await cursor.fetchall()


async def revoke_token(conn: Connection, token: str) -> UUID:
    """Revoke a token by its id, its name or its text; return its id."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute("select kl.revoke_token(p_token => %(token)s)", {"token": token})
        return UUID(str(await cursor.fetchone()))


async def require_access(conn: Connection, name: str, scope: str) -> None:
    """Raise unless the caller has that scope for states of that name."""
    await conn.execute(
        "select kl.require_access(p_name => %(name)s, p_scope => %(scope)s)",
        {"name": name, "scope": scope},
    )


async def touch_token(conn: Connection) -> None:
    """Remember that the token of this transaction was used."""
    await conn.execute("select kl.touch_token()")


async def create_workspace(conn: Connection, name: str) -> str:
    """Make a workspace; return its public id."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute("select kl.create_workspace(p_name => %(name)s)", {"name": name})
        return str(await cursor.fetchone())


async def create_environment(conn: Connection, workspace: str, name: str) -> str:
    """Make an environment; return the prefix of its states' names."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(
            "select kl.create_environment(p_workspace => %(workspace)s, p_name => %(name)s)",
            {"workspace": workspace, "name": name},
        )
        return str(await cursor.fetchone())


async def list_environments(conn: Connection) -> list[Environment]:
    """Return every workspace and environment."""
    async with conn.cursor(row_factory=class_row(Environment)) as cursor:
        await cursor.execute(
            "select environment, workspace_name, environment_name, state_count "
            "from kl.list_environments()"
        )
        return await cursor.fetchall()
