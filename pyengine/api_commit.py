"""The functions of schema `kl` that change a state natively: commit, remove, move, roll back.

Each takes the connection first and never commits; the caller owns the transaction.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

from msgspec import Struct
from psycopg import AsyncCursor
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from pyengine.api import Written
from pyengine.db import Connection

T = TypeVar("T")


class Base(Struct, frozen=True):
    """The version that a commit starts from: by its id, or by its serial."""

    serial: int | None = None
    version_id: UUID | None = None


class Upload(Struct, frozen=True):
    """A document in the stage: see kl.write_state."""

    id: UUID
    objects: int
    digest: bytes


class Committed(Struct, frozen=True):
    """The version that a commit made."""

    committed_serial: Decimal
    new_version_id: UUID
    version_no: int


class Operated(Struct, frozen=True):
    """What an operation does; the version it made, null for a preview or when nothing changed."""

    preview: dict[str, Any]
    committed_serial: Decimal | None
    new_version_id: UUID | None


class Moved(Struct, frozen=True):
    """As Operated; the last two: the version of the other state that objects moved to."""

    preview: dict[str, Any]
    committed_serial: Decimal | None
    new_version_id: UUID | None
    to_committed_serial: Decimal | None
    to_version_id: UUID | None


async def commit_delta(
    conn: Connection, name: str, apply_id: UUID, base: Base, delta: str
) -> Committed:
    """Commit what one apply run changed; `delta` is JSON text."""
    async with conn.cursor(row_factory=class_row(Committed)) as cursor:
        await cursor.execute(
            "select committed_serial, new_version_id, version_no from kl.commit_delta("
            "p_name => %(name)s, p_apply_id => %(apply_id)s, p_base_serial => %(serial)s, "
            "p_base_version_id => %(version_id)s, p_delta => %(delta)s::json)",
            {
                "name": name,
                "apply_id": apply_id,
                "serial": base.serial,
                "version_id": base.version_id,
                "delta": delta,
            },
        )
        return await _one(cursor)


async def commit_snapshot(
    conn: Connection, name: str, apply_id: UUID, base: Base, upload: Upload
) -> Written:
    """Commit a staged document for an apply run."""
    async with conn.cursor(row_factory=class_row(Written)) as cursor:
        await cursor.execute(
            "select outcome, version_id, version_no, serial, missing::int4multirange as missing "
            "from kl.commit_snapshot(p_name => %(name)s, p_apply_id => %(apply_id)s, "
            "p_base_serial => %(serial)s, p_base_version_id => %(version_id)s, "
            "p_upload_id => %(upload_id)s, p_objects => %(objects)s, p_digest => %(digest)s)",
            {
                "name": name,
                "apply_id": apply_id,
                "serial": base.serial,
                "version_id": base.version_id,
                "upload_id": upload.id,
                "objects": upload.objects,
                "digest": upload.digest,
            },
        )
        return await _one(cursor)


async def remove_resources(
    conn: Connection, name: str, addresses: Sequence[str], *, apply: bool, actor: str | None
) -> Operated:
    """Take objects out of a state, or preview that."""
    async with conn.cursor(row_factory=class_row(Operated)) as cursor:
        await cursor.execute(
            "select preview, committed_serial, new_version_id from kl.remove_resources("
            "p_name => %(name)s, p_addresses => %(addresses)s::text[], p_apply => %(apply)s, "
            "p_actor => %(actor)s)",
            {"name": name, "addresses": list(addresses), "apply": apply, "actor": actor},
        )
        return await _one(cursor)


async def move_resources(
    conn: Connection,
    name: str,
    moves: Sequence[tuple[str, str]],
    to_name: str | None,
    *,
    apply: bool,
    actor: str | None,
) -> Moved:
    """Give objects other addresses, in their state or in another one, or preview that."""
    listed = [{"address": source, "to": target} for source, target in moves]
    async with conn.cursor(row_factory=class_row(Moved)) as cursor:
        await cursor.execute(
            "select preview, committed_serial, new_version_id, to_committed_serial, to_version_id "
            "from kl.move_resources(p_name => %(name)s, p_moves => %(moves)s, "
            "p_to_name => %(to_name)s, p_apply => %(apply)s, p_actor => %(actor)s)",
            {
                "name": name,
                "moves": Jsonb(listed),
                "to_name": to_name,
                "apply": apply,
                "actor": actor,
            },
        )
        return await _one(cursor)


async def rollback_resource(
    conn: Connection, name: str, address: str, to: str, *, apply: bool, actor: str | None
) -> Operated:
    """Bring the objects at an address back to what they were at a version, or preview that."""
    async with conn.cursor(row_factory=class_row(Operated)) as cursor:
        await cursor.execute(
            "select preview, committed_serial, new_version_id from kl.rollback_resource("
            "p_name => %(name)s, p_address => %(address)s, p_to => %(to)s, "
            "p_apply => %(apply)s, p_actor => %(actor)s)",
            {"name": name, "address": address, "to": to, "apply": apply, "actor": actor},
        )
        return await _one(cursor)


async def _one(cursor: AsyncCursor[T]) -> T:
    row = await cursor.fetchone()
    assert row is not None, "the function always returns a row"
    return row
