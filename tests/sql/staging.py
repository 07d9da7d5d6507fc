"""Put documents into the stage and commit them, in the transaction of the caller."""

import hashlib
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

import psycopg
import pytest
from psycopg.rows import namedtuple_row

from pyengine import statefile
from tests.clusters import Connection
from tests.documents import Json, encoded


class Written(NamedTuple):
    """What kl.write_state and kl.import_state answer."""

    outcome: str
    version_id: uuid.UUID | None
    version_no: int | None
    serial: Decimal | None
    missing: str


@dataclass
class Upload:
    """A document in the stage; `send` its slices before a commit."""

    conn: Connection
    document: statefile.Document
    id: uuid.UUID = field(default_factory=uuid.uuid4)

    @property
    def objects(self) -> int:
        """Return how many keys were staged."""
        return len(self.document.digests)

    @property
    def digest(self) -> bytes:
        """Return the digest over the digests of all objects."""
        return hashlib.sha256(b"".join(self.document.digests)).digest()

    def stage_keys(self) -> None:
        """Stage the key of every object, and what is no object."""
        with self.conn.cursor().copy(
            "copy kl_internal.staged_keys (upload_id, first_ordinal, digests) from stdin"
        ) as copy:
            for first in range(0, self.objects, 2):
                copy.write_row((self.id, first, self.document.digests[first : first + 2]))
        self._copy([("document", 0, None, self.document.head)])
        self._copy(
            [
                ("output", n, self._bytes(name), self._bytes(value))
                for n, (name, value) in enumerate(self.document.outputs)
            ]
        )

    def missing(self, name: str) -> str:
        """Return which ordinals the database lacks."""
        row = self.conn.execute(
            "select kl.stage_missing(p_name => %s, p_upload_id => %s)", (name, self.id)
        ).fetchone()
        assert row is not None
        return str(row[0])

    def send(self, *ordinals: int) -> None:
        """Stage the slices of these objects in one call; of all of them unless told."""
        wanted = ordinals or range(self.objects)
        if self.document.chunks:
            self._copy([("opaque", n, None, bytes(self.document.chunks[n])) for n in wanted])
            return
        pieces = [self.document.parts(n) for n in wanted]
        self.conn.execute(
            "select kl.stage_objects(p_name => 's', p_upload_id => %s, "
            "p_ordinals => %s::integer[], p_blocks => %s::integer[], p_forms => %s::integer[], "
            "p_headers => %b, p_slices => %b::bytea[], p_keys => %b::bytea[], "
            "p_attributes => %b::bytea[], "
            "p_identities => %b::bytea[], p_digests => %b)",
            (
                self.id,
                list(wanted),
                [self.document.blocks[n] + 1 for n in wanted],
                [parts and n for n, parts in enumerate(pieces, 1)],
                [self._bytes(header) for header in self.document.headers],
                [parts and parts.rest for parts in pieces],
                [parts and parts.index_key for parts in pieces],
                [parts and parts.attributes for parts in pieces],
                [parts and parts.identity for parts in pieces],
                [self.document.digests[n] for n in wanted],
            ),
        )

    def write(self, name: str, lock_id: str | None = None) -> Written:
        """Commit as Terraform's backend client."""
        return self._commit(
            "kl.write_state(p_name => %s, p_upload_id => %s, p_objects => %s, p_digest => %s, "
            "p_lock_id => %s)",
            (name, self.id, self.objects, self.digest, lock_id),
        )

    def import_(self, name: str, source: str = "import") -> Written:
        """Commit as an import."""
        return self._commit(
            "kl.import_state(p_name => %s, p_upload_id => %s, p_objects => %s, p_digest => %s, "
            "p_source => %s)",
            (name, self.id, self.objects, self.digest, source),
        )

    def _commit(self, call: str, parameters: tuple[Any, ...]) -> Written:
        with self.conn.cursor(row_factory=namedtuple_row) as cursor:
            row = cursor.execute(
                f"select outcome, version_id, version_no, serial, missing from {call}".encode(),
                parameters,
            ).fetchone()
        assert row is not None
        return Written(*row)

    def _copy(self, rows: list[tuple[Any, ...]]) -> None:
        with self.conn.cursor().copy(
            "copy kl_internal.staged_slices (upload_id, kind, ordinal, header, slice) from stdin"
        ) as copy:
            for row in rows:
                copy.write_row((self.id, *row))

    def _bytes(self, piece: Any) -> bytes:  # noqa: ANN401 - bytes or a raw slice
        return self.document.payload(piece)


def stage(conn: Connection, document: Json | bytes) -> Upload:
    """Stage a whole document."""
    upload = stage_keys(conn, document)
    upload.send()
    return upload


def stage_keys(conn: Connection, document: Json | bytes) -> Upload:
    """Stage the keys of a document and none of its objects."""
    body = document if isinstance(document, bytes) else encoded(document)
    upload = Upload(conn, statefile.split(body))
    upload.stage_keys()
    return upload


def write(
    conn: Connection, name: str, document: Json | bytes, lock_id: str | None = None
) -> Written:
    """Stage a document and commit it as Terraform's backend client."""
    upload = stage_keys(conn, document)
    upload.missing(name)
    upload.send()
    return upload.write(name, lock_id)


def read(conn: Connection, name: str, version: str = "current", page: int = 3) -> bytes:
    """Return a document as a client puts it together, in small pages."""
    envelope = conn.execute(
        "select state_id, version_id, version_no, opaque, head, tail "
        "from kl.read_state(p_name => %s, p_version => %s)",
        (name, version),
    ).fetchone()
    assert envelope is not None
    state_id, version_id, version_no, opaque, head, tail = envelope
    if opaque:
        return b"".join(_chunks(conn, version_id))
    return "".join([head, *_pages(conn, state_id, version_no, page), tail]).encode()


def _pages(conn: Connection, state_id: uuid.UUID, version_no: int, limit: int) -> Iterator[str]:
    after = ""
    while True:
        row = conn.execute(
            "select chunk, last_path from kl.read_state_page(p_state_id => %s, "
            "p_version_no => %s, p_after => %s, p_limit => %s)",
            (state_id, version_no, after, limit),
        ).fetchone()
        if row is None:
            return
        after = row[1]
        yield row[0]


def _chunks(conn: Connection, version_id: uuid.UUID) -> Iterator[bytes]:
    chunk_no = 0
    while True:
        row = conn.execute(
            "select kl.read_opaque_page(p_version_id => %s, p_chunk_no => %s)",
            (version_id, chunk_no),
        ).fetchone()
        if row is None or row[0] is None:
            return
        yield row[0]
        chunk_no += 1


@dataclass
class Refusal:
    """What an error said: `message` for people, `detail` for programs."""

    message: str = ""
    detail: Json = field(default_factory=dict)


@contextmanager
def refused(conn: Connection, sqlstate: str) -> Iterator[Refusal]:
    """Expect the block to fail with a SQLSTATE; the transaction goes on as if it never ran."""
    refusal = Refusal()
    with pytest.raises(psycopg.Error) as caught, conn.transaction():
        yield refusal
    assert caught.value.sqlstate == sqlstate, caught.value
    refusal.message = caught.value.diag.message_primary or ""
    refusal.detail = json.loads(caught.value.diag.message_detail or "{}")
