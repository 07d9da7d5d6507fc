"""Put documents into a database as `kl import` does."""

import asyncio
import json
from typing import Any

from pyengine import db
from pyengine.importing import import_document
from tests.clusters import Database


def put(database: Database, name: str, *documents: dict[str, Any], source: str = "import") -> None:
    """Import documents as the next versions of a state; an apply by the administrator."""
    user = "postgres" if source == "apply" else "kl_server"

    async def write() -> None:
        async with db.Database(database.conninfo(user), max_size=3) as pool:
            for document in documents:
                body = json.dumps(document).encode()
                await import_document(pool, db.Caller(actor="ann"), name, body, source)

    asyncio.run(write())
