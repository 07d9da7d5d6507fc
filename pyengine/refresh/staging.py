"""Objects out of the database page by page, and what became of them back into it in batches."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, Final
from uuid import UUID

from pyengine import api_refresh, db
from pyengine.api_refresh import RefreshObject
from pyengine.refresh.objects import ObjectRead

_PAGE: Final = 100
_BATCH_ROWS: Final = 200
_BATCH_BYTES: Final = 4 << 20
_LONGEST_ERROR: Final = 10_000

Row = tuple[Any, ...]


class ObjectSource:
    """The objects of one provider in path order; any number of tasks may take from it."""

    def __init__(
        self, database: db.Database, caller: db.Caller, run_id: UUID, provider: str
    ) -> None:
        self._database = database
        self._caller = caller
        self._run_id = run_id
        self._provider = provider
        self._page: deque[RefreshObject] = deque()
        self._after: str | None = ""
        self._lock = asyncio.Lock()

    async def next(self) -> RefreshObject | None:
        """Return the next object; None when there is none left."""
        async with self._lock:
            if not self._page and self._after is not None:
                await self._fetch(self._after)
            return self._page.popleft() if self._page else None

    async def _fetch(self, after: str) -> None:
        found = await self._database.run(
            lambda conn: api_refresh.refresh_page(conn, self._run_id, self._provider, after, _PAGE),
            self._caller,
        )
        self._page.extend(found)
        self._after = found[-1].path if len(found) == _PAGE else None


class Stage:
    """What became of objects, on its way into the database."""

    def __init__(self, database: db.Database, caller: db.Caller, run_id: UUID) -> None:
        self._database = database
        self._caller = caller
        self._run_id = run_id
        self._rows: list[Row] = []
        self._bytes = 0

    async def read(self, stored: RefreshObject, found: ObjectRead) -> None:
        """Stage what an object is now."""
        self._bytes += len(found.attributes or b"") + len(found.prior or b"")
        await self._add(
            (
                self._run_id,
                stored.resource_id,
                "gone" if found.attributes is None else "read",
                found.schema_version,
                found.attributes,
                found.prior,
                found.sensitive_attributes,
                found.private,
                found.identity,
                found.identity_schema_version,
                None,
            )
        )

    async def failed(self, stored: RefreshObject, error: str) -> None:
        """Stage why an object could not be refreshed."""
        text = storable(error[:_LONGEST_ERROR])
        nothing = (None,) * 7
        await self._add((self._run_id, stored.resource_id, "failed", *nothing, text))

    async def flush(self) -> None:
        """Send what is waiting."""
        rows, self._rows, self._bytes = self._rows, [], 0
        if rows:
            await self._database.run(
                lambda conn: api_refresh.copy_staged_reads(conn, _each(rows)), self._caller
            )

    async def _add(self, row: Row) -> None:
        self._rows.append(row)
        if len(self._rows) >= _BATCH_ROWS or self._bytes >= _BATCH_BYTES:
            await self.flush()


def storable(text: str) -> str:
    """Return what a provider or a library wrote as PostgreSQL can keep it."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()


async def _each(rows: list[Row]) -> AsyncIterator[Row]:
    for row in rows:
        yield row
