"""Reach states through a database connection."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, BinaryIO

from cli.database import open_database
from cli.reading_sql import SqlReading
from pyengine import api, api_admin, api_commit, api_verify, download
from pyengine.api import FreedLock
from pyengine.api_admin import ListedState
from pyengine.api_commit import Moved, Operated
from pyengine.api_verify import Verified
from pyengine.importing import Imported, import_document
from pyengine.settings import Settings


class SqlTransport(SqlReading):
    """The calls of `Transport` over a pool of sessions."""

    async def import_state(self, name: str, file: BinaryIO, source: str) -> Imported:
        """Read `file` whole and store it."""
        body = await asyncio.to_thread(file.read)
        return await import_document(self._database, self._caller, name, body, source)

    async def export_state(self, name: str, version: str) -> AsyncGenerator[bytes, None]:
        """Yield a version page by page."""
        async for chunk in download.render(self._database, name, version, self._caller):
            yield chunk

    async def list_states(self) -> list[ListedState]:
        """Return every state, by name."""
        return await self._database.run(api_admin.list_states, self._caller)

    async def state_status(self, name: str) -> dict[str, Any]:
        """Return what kl.state_status tells of a state."""
        return await self._database.run(
            lambda conn: api_admin.state_status(conn, name), self._caller
        )

    async def verify_state(self, name: str, cursor: dict[str, Any] | None) -> Verified:
        """Check the part of a state that begins at `cursor`."""
        return await self._database.run(
            lambda conn: api_verify.verify_state(conn, name, cursor), self._caller
        )

    async def force_unlock(self, name: str, lock_id: str | None) -> FreedLock | None:
        """Free the lock that Terraform sees."""
        return await self._database.run(
            lambda conn: api.force_unlock(conn, name, lock_id), self._caller
        )

    async def delete_state(self, name: str) -> None:
        """Delete a state; its history is kept."""
        await self._database.run(lambda conn: api.delete_state(conn, name), self._caller)

    async def remove_resources(
        self, name: str, addresses: Sequence[str], *, apply: bool
    ) -> Operated:
        """Take objects out of a state, or say what that would do."""
        return await self._run(
            lambda conn: api_commit.remove_resources(conn, name, addresses, apply=apply, actor=None)
        )

    async def move_resources(
        self, name: str, moves: Sequence[tuple[str, str]], to_name: str | None, *, apply: bool
    ) -> Moved:
        """Give objects other addresses, in their state or another, or say what that would do."""
        return await self._run(
            lambda conn: api_commit.move_resources(
                conn, name, moves, to_name, apply=apply, actor=None
            )
        )

    async def rollback_resource(self, name: str, address: str, to: str, *, apply: bool) -> Operated:
        """Bring an address back to what it was at a version, or say what that would do."""
        return await self._run(
            lambda conn: api_commit.rollback_resource(
                conn, name, address, to, apply=apply, actor=None
            )
        )


@asynccontextmanager
async def open_sql(settings: Settings, *, admin: bool, create: bool) -> AsyncIterator[SqlTransport]:
    """Connect to the database of the settings, starting the embedded one where needed."""
    async with open_database(settings, admin=admin, create=create) as (database, caller):
        yield SqlTransport(database, caller)
