"""Carry a split document into the stage and let the database make it a version."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Final
from uuid import UUID, uuid4

from psycopg.types.multirange import Multirange

from pyengine import api, db, wire
from pyengine.errors import KilolockError
from pyengine.statefile import Document

Commit = Callable[[db.Connection, UUID, int, bytes], Awaitable[api.Written]]

_ATTEMPTS: Final = 4
_KEYS_PER_ROW: Final = 4096
_BATCH_BYTES: Final = 2 << 20
_BATCH_OBJECTS: Final = 2000
_SHARE_OBJECTS: Final = 500
_STREAMS: Final = 2


async def write(
    database: db.Database, caller: db.Caller, name: str, document: Document, commit: Commit
) -> api.Written:
    """Stage a document, sending only the objects the database lacks, and commit it.

    No transaction is open while bytes travel. `commit` runs in one; it gets the upload id, the
    number of objects and the digest over their digests.
    """
    total = hashlib.sha256(b"".join(document.digests)).digest()
    upload_id: UUID | None = None
    for _ in range(_ATTEMPTS):
        if upload_id is None:
            upload_id = uuid4()
            missing = await _stage(database, caller, name, upload_id, document)
            await _send(database, caller, name, upload_id, document, missing)
        async with database.transaction(caller) as conn:
            written = await commit(conn, upload_id, len(document.digests), total)
        if written.outcome == "incomplete":
            await _send(database, caller, name, upload_id, document, written.missing)
        elif written.outcome == "lost":
            upload_id = None
        else:
            return written
    raise KilolockError(
        "database_unavailable", f"state {name}: the upload kept getting lost; try again"
    )


async def _stage(
    database: db.Database, caller: db.Caller, name: str, upload_id: UUID, document: Document
) -> Multirange[int]:
    """Stage keys and what is no object; return which objects the database lacks."""
    async with database.connection() as conn:
        await api.copy_staged_keys(conn, wire.blocks(_key_rows(upload_id, document.digests)))
        await api.copy_staged_slices(conn, wire.blocks(_member_rows(upload_id, document)))
        async with db.transaction(conn, caller):
            return await api.stage_missing(conn, name, upload_id)


async def _send(
    database: db.Database,
    caller: db.Caller,
    name: str,
    upload_id: UUID,
    document: Document,
    missing: Multirange[int],
) -> None:
    ordinals = [n for part in missing for n in range(part.lower or 0, part.upper or 0)]
    if document.chunks:
        async with database.connection() as conn:
            rows = _chunk_rows(upload_id, document, ordinals)
            await api.copy_staged_slices(conn, wire.blocks(rows))
        return
    batches = list(_batches(document, ordinals))
    waiting = iter(batches)
    streams = [
        asyncio.create_task(_stream(database, caller, name, upload_id, document, waiting))
        for _ in batches[:_STREAMS]
    ]
    if not streams:
        return
    try:
        await asyncio.gather(*streams)
    finally:
        for stream in streams:
            stream.cancel()
        await asyncio.wait(streams)


async def _stream(
    database: db.Database,
    caller: db.Caller,
    name: str,
    upload_id: UUID,
    document: Document,
    batches: Iterator[list[int]],
) -> None:
    """Send batches while there are any; each is parsed where the next one is packed meanwhile."""
    for ordinals in batches:
        objects = _packed(document, ordinals)
        async with database.transaction(caller) as conn:
            await api.stage_objects(conn, name, upload_id, objects)


def _batches(document: Document, ordinals: list[int]) -> Iterator[list[int]]:
    # A smaller document is shared out among the streams, down to what a call costs by itself.
    most = min(_BATCH_OBJECTS, max(_SHARE_OBJECTS, -(-len(ordinals) // _STREAMS)))
    batch: list[int] = []
    size = 0
    for ordinal in ordinals:
        piece = document.slices[ordinal]
        length = 0 if piece is None else memoryview(piece).nbytes
        if batch and (size + length > _BATCH_BYTES or len(batch) >= most):
            yield batch
            batch, size = [], 0
        batch.append(ordinal)
        size += length
    if batch:
        yield batch


def _packed(document: Document, ordinals: list[int]) -> api.StagedObjects:
    places: dict[int, int] = {}
    blocks = [places.setdefault(document.blocks[n], len(places) + 1) for n in ordinals]
    parts = [document.parts(n) for n in ordinals]
    # What the instances of a resource have in common is sent, and parsed, once.
    rests: dict[bytes, int] = {}
    forms = [p and rests.setdefault(p.rest, len(rests) + 1) for p in parts]
    return api.StagedObjects(
        ordinals=wire.int4_array(ordinals),
        blocks=wire.int4_array(blocks),
        forms=wire.int4_array(forms),
        headers=wire.bytea_array([document.payload(document.headers[n]) for n in places]),
        slices=wire.bytea_array(list(rests)),
        keys=wire.bytea_array([p and p.index_key for p in parts]),
        attributes=wire.bytea_array([p and p.attributes for p in parts]),
        identities=wire.bytea_array([p and p.identity for p in parts]),
        digests=wire.bytea_array([document.digests[n] for n in ordinals]),
    )


def _key_rows(upload_id: UUID, digests: list[bytes]) -> Iterator[bytes]:
    for first in range(0, len(digests), _KEYS_PER_ROW):
        run = wire.bytea_array(digests[first : first + _KEYS_PER_ROW])
        yield wire.row(upload_id.bytes, wire.integer(first), run)


def _member_rows(upload_id: UUID, document: Document) -> Iterator[bytes]:
    yield _slice_row(upload_id, b"document", 0, None, document.head)
    for ordinal, (name, value) in enumerate(document.outputs):
        header, piece = bytes(document.payload(name)), bytes(document.payload(value))
        yield _slice_row(upload_id, b"output", ordinal, header, piece)


def _chunk_rows(upload_id: UUID, document: Document, ordinals: Iterable[int]) -> Iterator[bytes]:
    for ordinal in ordinals:
        yield _slice_row(upload_id, b"opaque", ordinal, None, bytes(document.chunks[ordinal]))


def _slice_row(
    upload_id: UUID, kind: bytes, ordinal: int, header: bytes | None, piece: bytes
) -> bytes:
    return wire.row(upload_id.bytes, kind, wire.integer(ordinal), header, piece)
