"""One coroutine per function or view of schema `kl`: the only SQL that Python calls it with.

Each takes the connection first and never commits; the caller owns the transaction.
"""

from collections.abc import AsyncIterable
from datetime import datetime
from decimal import Decimal
from typing import TypeVar
from uuid import UUID

from msgspec import Struct
from psycopg import AsyncCursor
from psycopg.rows import class_row, scalar_row
from psycopg.types.multirange import Int4Multirange, Multirange

from pyengine.db import Connection
from pyengine.wire import ByteaArray, ByteaArrayDumper, Int4Array, Int4ArrayDumper

T = TypeVar("T")


class Written(Struct, frozen=True):
    """What came of a write. outcome: written, unchanged, incomplete or lost."""

    outcome: str
    version_id: UUID | None
    version_no: int | None
    serial: Decimal | None
    missing: Multirange[int]


class StagedObjects(Struct, frozen=True):
    """Objects of a document, one per place: see kl.stage_objects."""

    ordinals: Int4Array
    blocks: Int4Array
    forms: Int4Array
    headers: ByteaArray
    slices: ByteaArray
    keys: ByteaArray
    attributes: ByteaArray
    identities: ByteaArray
    digests: ByteaArray


class Envelope(Struct, frozen=True):
    """A version of a state, and the JSON text around its resources."""

    state_id: UUID
    version_id: UUID
    version_no: int
    serial: Decimal
    lineage: str
    opaque: bool
    object_count: int
    head: str
    tail: str


class FreedLock(Struct, frozen=True):
    """The lock that `force_unlock` freed."""

    lock_id: str
    operation: str | None
    who: str | None
    acquired_at: datetime


async def copy_staged_keys(conn: Connection, blocks: AsyncIterable[bytes]) -> None:
    """Fill the stage with keys: blocks of binary COPY (upload id, first ordinal, digests)."""
    await _copy(
        conn,
        "copy kl_internal.staged_keys (upload_id, first_ordinal, digests) "
        "from stdin (format binary)",
        blocks,
    )


async def copy_staged_slices(conn: Connection, blocks: AsyncIterable[bytes]) -> None:
    """Fill the stage with slices: blocks of binary COPY, columns as named here."""
    await _copy(
        conn,
        "copy kl_internal.staged_slices (upload_id, kind, ordinal, header, slice) "
        "from stdin (format binary)",
        blocks,
    )


async def _copy(conn: Connection, statement: str, blocks: AsyncIterable[bytes]) -> None:
    async with conn.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        async for block in blocks:
            await copy.write(block)


async def stage_objects(
    conn: Connection, name: str, upload_id: UUID, objects: StagedObjects
) -> None:
    """Parse objects of a document into the stage."""
    async with conn.cursor() as cursor:
        cursor.adapters.register_dumper(ByteaArray, ByteaArrayDumper)
        cursor.adapters.register_dumper(Int4Array, Int4ArrayDumper)
        await cursor.execute(
            "select kl.stage_objects(p_name => %(name)s, p_upload_id => %(upload_id)s, "
            "p_ordinals => %(ordinals)s, p_blocks => %(blocks)s, p_forms => %(forms)s, "
            "p_headers => %(headers)s, p_slices => %(slices)s, p_keys => %(keys)s, "
            "p_attributes => %(attributes)s, "
            "p_identities => %(identities)s, p_digests => %(digests)s)",
            {
                "name": name,
                "upload_id": upload_id,
                "ordinals": objects.ordinals,
                "blocks": objects.blocks,
                "forms": objects.forms,
                "headers": objects.headers,
                "slices": objects.slices,
                "keys": objects.keys,
                "attributes": objects.attributes,
                "identities": objects.identities,
                "digests": objects.digests,
            },
        )


async def stage_missing(conn: Connection, name: str, upload_id: UUID) -> Multirange[int]:
    """Return the ordinals whose slices must be sent."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(
            "select kl.stage_missing(p_name => %(name)s, p_upload_id => %(upload_id)s)"
            "::int4multirange",
            {"name": name, "upload_id": upload_id},
        )
        return await cursor.fetchone() or Int4Multirange()


async def write_state(
    conn: Connection, name: str, upload_id: UUID, objects: int, digest: bytes, lock_id: str | None
) -> Written:
    """Commit a staged document as Terraform's HTTP backend client writes it."""
    async with conn.cursor(row_factory=class_row(Written)) as cursor:
        await cursor.execute(
            "select outcome, version_id, version_no, serial, missing::int4multirange as missing "
            "from kl.write_state(p_name => %(name)s, p_upload_id => %(upload_id)s, "
            "p_objects => %(objects)s, p_digest => %(digest)s, p_lock_id => %(lock_id)s)",
            {
                "name": name,
                "upload_id": upload_id,
                "objects": objects,
                "digest": digest,
                "lock_id": lock_id,
            },
        )
        return await _one(cursor)


async def import_state(
    conn: Connection, name: str, upload_id: UUID, objects: int, digest: bytes, source: str
) -> Written:
    """Commit a staged document as an import, an apply or a refresh."""
    async with conn.cursor(row_factory=class_row(Written)) as cursor:
        await cursor.execute(
            "select outcome, version_id, version_no, serial, missing::int4multirange as missing "
            "from kl.import_state(p_name => %(name)s, p_upload_id => %(upload_id)s, "
            "p_objects => %(objects)s, p_digest => %(digest)s, p_source => %(source)s)",
            {
                "name": name,
                "upload_id": upload_id,
                "objects": objects,
                "digest": digest,
                "source": source,
            },
        )
        return await _one(cursor)


async def sweep_uploads(conn: Connection, older_than: str) -> int:
    """Drop uploads begun longer ago than that interval; return how many."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(
            "select kl.sweep_uploads(p_older_than => %(older_than)s::interval)",
            {"older_than": older_than},
        )
        return int(await _one(cursor))


async def read_state(conn: Connection, name: str, version: str = "current") -> Envelope:
    """Return a version of a state and what surrounds its resources."""
    async with conn.cursor(row_factory=class_row(Envelope)) as cursor:
        await cursor.execute(
            "select state_id, version_id, version_no, serial, lineage, opaque, object_count, "
            "head, tail "
            "from kl.read_state(p_name => %(name)s, p_version => %(version)s)",
            {"name": name, "version": version},
        )
        return await _one(cursor)


async def read_state_page(
    conn: Connection, state_id: UUID, version_no: int, after: str, limit: int
) -> tuple[bytes, str] | None:
    """Return the next objects of a document (JSON text in UTF-8) and where they end."""
    async with conn.cursor() as cursor:
        await cursor.execute(
            "select chunk, last_path from kl.read_state_page(p_state_id => %(state_id)s, "
            "p_version_no => %(version_no)s, p_after => %(after)s, p_limit => %(limit)s)",
            {"state_id": state_id, "version_no": version_no, "after": after, "limit": limit},
        )
        result = cursor.pgresult
        if result is None or result.ntuples == 0:
            return None
        return result.get_value(0, 0) or b"", (result.get_value(0, 1) or b"").decode()


async def read_opaque_page(conn: Connection, version_id: UUID, chunk_no: int) -> bytes | None:
    """Return one run of the bytes of an encrypted document; None at the end."""
    async with conn.cursor(row_factory=scalar_row, binary=True) as cursor:
        await cursor.execute(
            "select kl.read_opaque_page(p_version_id => %(version_id)s, p_chunk_no => %(no)s)",
            {"version_id": version_id, "no": chunk_no},
        )
        return await cursor.fetchone()


async def delete_state(conn: Connection, name: str) -> None:
    """Delete a state; its history is kept."""
    await conn.execute("select kl.delete_state(p_name => %(name)s)", {"name": name})


async def lock_state(conn: Connection, name: str, lock_info: str) -> str:
    """Take the Terraform-visible lock; return its ID."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(
            "select kl.lock_state(p_name => %(name)s, p_lock_info => %(lock_info)s)",
            {"name": name, "lock_info": lock_info},
        )
        return str(await _one(cursor))


async def unlock_state(conn: Connection, name: str, lock_info: str) -> str | None:
    """Free the Terraform-visible lock; return the ID that was freed."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(
            "select kl.unlock_state(p_name => %(name)s, p_lock_info => %(lock_info)s)",
            {"name": name, "lock_info": lock_info},
        )
        return await cursor.fetchone()


async def force_unlock(conn: Connection, name: str, lock_id: str | None) -> FreedLock | None:
    """Free the Terraform-visible lock whoever holds it; return what was freed."""
    async with conn.cursor(row_factory=class_row(FreedLock)) as cursor:
        await cursor.execute(
            "select lock_id, operation, who, acquired_at "
            "from kl.force_unlock(p_name => %(name)s, p_lock_id => %(lock_id)s)",
            {"name": name, "lock_id": lock_id},
        )
        return await cursor.fetchone()


async def _one(cursor: AsyncCursor[T]) -> T:
    row = await cursor.fetchone()
    assert row is not None, "the function always returns a row"
    return row
