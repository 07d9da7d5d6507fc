"""Coroutines for the `kl` functions that tell how states stand; rules as in pyengine/api.py."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from msgspec import Struct
from psycopg.rows import class_row, scalar_row

from pyengine.db import Connection


class ListedState(Struct, frozen=True):
    """One state in short: its current version and who holds its locks."""

    name: str
    state_id: UUID
    version_no: int
    serial: Decimal
    objects: int
    source: str
    actor: str | None
    written_at: datetime
    opaque: bool
    locked_by: str | None


async def list_states(conn: Connection) -> list[ListedState]:
    """Return every state, by name."""
    async with conn.cursor(row_factory=class_row(ListedState)) as cursor:
        await cursor.execute(
            "select name, state_id, version_no, serial, objects, source, actor, written_at, "
            "opaque, locked_by from kl.list_states()"
        )
        return await cursor.fetchall()


async def state_status(conn: Connection, name: str) -> dict[str, Any]:
    """Return how a state stands: current version, locks, running runs, reservations."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute("select kl.state_status(p_name => %(name)s)", {"name": name})
        status: dict[str, Any] | None = await cursor.fetchone()
        assert status is not None, "the function always returns an object"
        return status


async def ping(conn: Connection) -> None:
    """Check that the database answers and has our schema."""
    await conn.execute("select state_id from kl.states limit 0")


async def require_admin(conn: Connection) -> None:
    """Raise `forbidden` unless the caller is an admin of the whole installation."""
    await conn.execute("select kl.require_admin()")
