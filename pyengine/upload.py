"""Carry a split document into the stage and let the database make it a version."""

import asyncio
import hashlib
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import Final
from uuid import UUID, uuid4

from psycopg.types.multirange import Multirange
from psycopg.types.range import Range

from pyengine import api, db
from pyengine.errors import KilolockError
from pyengine.statefile import Document

Commit = Callable[[UUID, int, bytes], Awaitable[api.Written]]

_ATTEMPTS: Final = 4
_BATCH: Final = 1 << 18
_SIGNATURE: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END: Final = b"\xff\xff"
_INT: Final = struct.Struct("!i")


async def write(
    conn: db.Connection, caller: db.Caller, name: str, document: Document, commit: Commit
) -> api.Written:
    """Stage a document, sending only the objects the database lacks, and commit it.

    No transaction is open while bytes travel. `commit` gets the upload id, the number of objects
    and the digest over their digests.
    """
    digests = await asyncio.to_thread(lambda: document.digests)
    total = hashlib.sha256(b"".join(digests)).digest()
    upload_id: UUID | None = None
    for _ in range(_ATTEMPTS):
        if upload_id is None:
            upload_id = uuid4()
            await api.copy_staged_keys(conn, _rows(_key_rows(upload_id, digests)))
            await api.copy_staged_slices(conn, _rows(_member_rows(upload_id, document)))
            async with db.transaction(conn, caller, read_only=True):
                missing = await api.stage_missing(conn, name, upload_id)
            await _send(conn, upload_id, document, missing)
        written = await commit(upload_id, len(digests), total)
        if written.outcome == "incomplete":
            await _send(conn, upload_id, document, written.missing)
        elif written.outcome == "lost":
            upload_id = None
        else:
            return written
    raise KilolockError(
        "database_unavailable", f"state {name}: the upload kept getting lost; try again"
    )


async def _send(
    conn: db.Connection, upload_id: UUID, document: Document, missing: Multirange[int]
) -> None:
    ordinals = (ordinal for part in missing for ordinal in _ordinals(part))
    rows = _chunk_rows if document.chunks else _object_rows
    if missing:
        await api.copy_staged_slices(conn, _rows(rows(upload_id, document, ordinals)))


def _ordinals(part: Range[int]) -> range:
    return range(part.lower or 0, part.upper or 0)


def _key_rows(upload_id: UUID, digests: list[bytes]) -> Iterator[bytes]:
    for ordinal, digest in enumerate(digests):
        yield _row(upload_id.bytes, _INT.pack(ordinal), digest)


def _member_rows(upload_id: UUID, document: Document) -> Iterator[bytes]:
    yield _slice_row(upload_id, b"document", 0, slice_=document.head)
    for ordinal, (name, value) in enumerate(document.outputs):
        yield _slice_row(
            upload_id,
            b"output",
            ordinal,
            header=document.payload(name),
            slice_=document.payload(value),
        )


def _object_rows(upload_id: UUID, document: Document, ordinals: Iterable[int]) -> Iterator[bytes]:
    for ordinal in ordinals:
        parts = document.parts(ordinal)
        header = document.payload(document.objects[ordinal].header)
        if parts is None:
            yield _slice_row(upload_id, b"resource", ordinal, header=header)
            continue
        yield _slice_row(
            upload_id,
            b"resource",
            ordinal,
            header=header,
            index_key=parts.index_key,
            deposed=parts.deposed,
            dependencies=parts.dependencies,
            attributes=parts.attributes,
            identity=parts.identity,
            slice_=parts.rest,
        )


def _chunk_rows(upload_id: UUID, document: Document, ordinals: Iterable[int]) -> Iterator[bytes]:
    for ordinal in ordinals:
        yield _slice_row(upload_id, b"opaque", ordinal, slice_=bytes(document.chunks[ordinal]))


def _slice_row(
    upload_id: UUID,
    kind: bytes,
    ordinal: int,
    *,
    header: bytes | None = None,
    index_key: bytes | None = None,
    deposed: bytes | None = None,
    dependencies: bytes | None = None,
    attributes: bytes | None = None,
    identity: bytes | None = None,
    slice_: bytes | None = None,
) -> bytes:
    return _row(
        upload_id.bytes,
        kind,
        _INT.pack(ordinal),
        header,
        index_key,
        deposed,
        dependencies,
        attributes,
        identity,
        slice_,
    )


def _row(*fields: bytes | None) -> bytes:
    """Return one row of binary COPY."""
    parts = [len(fields).to_bytes(2, "big")]
    for value in fields:
        if value is None:
            parts.append(b"\xff\xff\xff\xff")
        else:
            parts.append(_INT.pack(len(value)))
            parts.append(value)
    return b"".join(parts)


async def _rows(rows: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Gather rows into blocks of binary COPY, signature and end included."""
    batch: list[bytes] = [_SIGNATURE]
    size = 0
    for row in rows:
        batch.append(row)
        size += len(row)
        if size > _BATCH:
            yield b"".join(batch)
            batch.clear()
            size = 0
    batch.append(_END)
    yield b"".join(batch)
