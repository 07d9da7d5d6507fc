"""Import a whole document as the next version of a state."""

import asyncio
from decimal import Decimal
from uuid import UUID

from msgspec import Struct

from pyengine import api, db, statefile, upload
from pyengine.statefile import Document
from pyengine.statetext import Buffer


class Imported(Struct, frozen=True):
    """What came of an import. outcome: written, or unchanged when the state holds it already."""

    state: str
    outcome: str
    version_id: UUID | None
    version_no: int | None
    serial: Decimal | None


async def import_document(
    database: db.Database, caller: db.Caller, name: str, body: Buffer, source: str
) -> Imported:
    """Store `body` under `name`; source is import, apply or refresh.

    Raises `invalid_request` for what is not a state, and what kl.import_state raises.
    """
    document = await asyncio.to_thread(statefile.split, body)
    return await import_split(database, caller, name, document, source)


async def import_split(
    database: db.Database, caller: db.Caller, name: str, document: Document, source: str
) -> Imported:
    """Store a document that is split already. Raises what kl.import_state raises."""

    async def commit(
        conn: db.Connection, upload_id: UUID, objects: int, digest: bytes
    ) -> api.Written:
        return await api.import_state(conn, name, upload_id, objects, digest, source)

    written = await upload.write(database, caller, name, document, commit)
    return Imported(name, written.outcome, written.version_id, written.version_no, written.serial)
