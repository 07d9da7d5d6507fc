"""The coroutine for kl.verify_state; rules as in pyengine/api.py."""

from typing import Any

from msgspec import Struct
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from pyengine.db import Connection


class Damage(Struct, frozen=True):
    """What is wrong with versions from_version_no to to_version_no (null: all to the last)."""

    kind: str
    problem: str
    address: str | None = None
    deposed_key: str | None = None
    from_version_no: int | None = None
    to_version_no: int | None = None


class Verified(Struct, frozen=True):
    """A part of a state that was checked; the next one starts at next_cursor, null at the end.

    done and total count rows and versions; version_no is the last version that is looked at.
    """

    next_cursor: dict[str, Any] | None
    version_no: int
    done: int
    total: int
    damage: list[Damage]


class _Row(Struct, frozen=True):
    next_cursor: dict[str, Any] | None
    version_no: int
    done: int
    total: int
    damage: list[dict[str, Any]]


async def verify_state(conn: Connection, name: str, cursor: dict[str, Any] | None) -> Verified:
    """Check the part of a state that begins at `cursor`; at the beginning without one."""
    async with conn.cursor(row_factory=class_row(_Row)) as answer:
        await answer.execute(
            "select next_cursor, version_no, done, total, damage"
            " from kl.verify_state(p_name => %(name)s, p_cursor => %(cursor)s)",
            {"name": name, "cursor": None if cursor is None else Jsonb(cursor)},
        )
        row = await answer.fetchone()
        assert row is not None, "the function always returns a row"
        damage = [Damage(**found) for found in row.damage]
        return Verified(row.next_cursor, row.version_no, row.done, row.total, damage)
