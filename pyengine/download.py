"""Render a version of a state page by page."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

from pyengine import api, db

_TARGET: Final = 1 << 20
_FIRST_LIMIT: Final = 200
_MOST: Final = 5000


async def render(
    database: db.Database, name: str, version: str, caller: db.Caller
) -> AsyncGenerator[bytes, None]:
    """Yield a state document in blocks of about a mebibyte.

    Raises what kl.read_state raises before the first block. Each page is a short transaction of
    its own, so that a slow reader holds nothing in the database; the next one is fetched while
    the caller deals with the last.
    """
    envelope = await database.run(
        lambda conn: api.read_state(conn, name, version), caller, read_only=True
    )
    if envelope.opaque:
        async for chunk in _opaque_pages(database, caller, envelope):
            yield chunk
        return
    yield envelope.head.encode()
    if envelope.object_count:
        async for chunk in _pages(database, caller, envelope):
            yield chunk
    yield envelope.tail.encode()


async def _pages(
    database: db.Database, caller: db.Caller, envelope: api.Envelope
) -> AsyncGenerator[bytes, None]:
    after, limit = "", _FIRST_LIMIT

    async def fetch(conn: db.Connection) -> tuple[bytes, str] | None:
        return await api.read_state_page(conn, envelope.state_id, envelope.version_no, after, limit)

    page = await database.run(fetch, caller, read_only=True)
    while page is not None:
        chunk, after = page
        limit = max(1, min(_MOST, limit * _TARGET // max(len(chunk), 1)))
        following = _start(database, fetch, caller)
        try:
            yield chunk
        except BaseException:
            following.cancel()
            await asyncio.wait({following})
            raise
        page = await following


def _start(
    database: db.Database,
    fetch: Callable[[db.Connection], Awaitable[tuple[bytes, str] | None]],
    caller: db.Caller,
) -> asyncio.Task[tuple[bytes, str] | None]:
    return asyncio.create_task(database.run(fetch, caller, read_only=True))


async def _opaque_pages(
    database: db.Database, caller: db.Caller, envelope: api.Envelope
) -> AsyncGenerator[bytes, None]:
    chunk_no = 0

    async def fetch(conn: db.Connection) -> bytes | None:
        return await api.read_opaque_page(conn, envelope.version_id, chunk_no)

    while (chunk := await database.run(fetch, caller, read_only=True)) is not None:
        yield chunk
        chunk_no += 1
