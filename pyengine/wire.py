"""PostgreSQL's binary forms: rows of COPY and arrays, for what is too much to go one by one."""

import struct
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Final

from psycopg.adapt import Dumper
from psycopg.pq import Format

Piece = bytes | memoryview

_BLOCK: Final = 1 << 18
_SIGNATURE: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END: Final = b"\xff\xff"
_NULL: Final = b"\xff\xff\xff\xff"
_BYTEA_OID: Final = 17
_INT4_OID: Final = 23
_INT: Final = struct.Struct("!i")
_PAIR: Final = struct.Struct("!ii")
_ARRAY: Final = struct.Struct("!iiIii")


class ByteaArray(bytes):
    """A bytea[] in binary form."""


class Int4Array(bytes):
    """An integer[] in binary form."""


class ByteaArrayDumper(Dumper):
    """Send a ByteaArray as it is."""

    format = Format.BINARY
    oid = 1001

    def dump(self, obj: ByteaArray) -> bytes:
        """Return the binary form."""
        return obj


class Int4ArrayDumper(Dumper):
    """Send an Int4Array as it is."""

    format = Format.BINARY
    oid = 1007

    def dump(self, obj: Int4Array) -> bytes:
        """Return the binary form."""
        return obj


def bytea_array(items: Sequence[Piece | None]) -> ByteaArray:
    """Return the binary form of a bytea[]; None is null."""
    if not items:
        return ByteaArray(_empty(_BYTEA_OID))
    parts: list[Piece] = [_ARRAY.pack(1, 1, _BYTEA_OID, len(items), 1)]
    for item in items:
        if item is None:
            parts.append(_NULL)
        else:
            parts.append(_INT.pack(len(item)))
            parts.append(item)
    return ByteaArray(b"".join(parts))


def int4_array(items: Sequence[int | None]) -> Int4Array:
    """Return the binary form of an integer[]; None is null."""
    if not items:
        return Int4Array(_empty(_INT4_OID))
    head = _ARRAY.pack(1, 1, _INT4_OID, len(items), 1)
    parts = [_NULL if item is None else _PAIR.pack(4, item) for item in items]
    return Int4Array(head + b"".join(parts))


def _empty(oid: int) -> bytes:
    return struct.pack("!iiI", 0, 0, oid)


def integer(value: int) -> bytes:
    """Return the binary form of an integer."""
    return _INT.pack(value)


def row(*fields: bytes | None) -> bytes:
    """Return one row of binary COPY."""
    parts = [len(fields).to_bytes(2, "big")]
    for value in fields:
        if value is None:
            parts.append(_NULL)
        else:
            parts.append(_INT.pack(len(value)))
            parts.append(value)
    return b"".join(parts)


async def blocks(rows: Iterable[bytes]) -> AsyncIterator[bytes]:
    """Gather rows into blocks of binary COPY, signature and end included."""
    for block in _blocks(rows):
        yield block


def _blocks(rows: Iterable[bytes]) -> Iterator[bytes]:
    batch: list[bytes] = [_SIGNATURE]
    size = 0
    for item in rows:
        batch.append(item)
        size += len(item)
        if size > _BLOCK:
            yield b"".join(batch)
            batch.clear()
            size = 0
    batch.append(_END)
    yield b"".join(batch)
