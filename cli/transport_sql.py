"""Reach states through a database connection."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, BinaryIO

import click

from cli.reading_sql import SqlReading
from pyengine import api, api_admin, api_verify, db, download, embedded, embedded_guard, install
from pyengine.api import FreedLock
from pyengine.api_admin import ListedState
from pyengine.api_verify import Verified
from pyengine.errors import EXIT_USAGE, KilolockError
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


@asynccontextmanager
async def open_sql(settings: Settings, *, admin: bool, create: bool) -> AsyncIterator[SqlTransport]:
    """Connect to the database of the settings, starting the embedded one where needed."""
    async with open_database(settings, admin=admin, create=create) as (database, caller):
        yield SqlTransport(database, caller)


@asynccontextmanager
async def open_database(
    settings: Settings, *, admin: bool = False, create: bool = False, sessions: int = 4
) -> AsyncIterator[tuple[db.Database, db.Caller]]:
    """Lend a pool of so many sessions at that database, and who works in it."""
    async with AsyncExitStack() as stack:
        if settings.embedded:
            user = embedded.SUPERUSER if admin else "kl_server"
            conninfo = await embedded_conninfo(settings, stack, user, create=create)
        else:
            assert settings.database_url is not None
            conninfo = settings.database_url
        database = db.Database(conninfo, max_size=sessions, application_name="kl")
        await stack.enter_async_context(database)
        yield database, db.Caller(actor=settings.actor)


async def embedded_conninfo(
    settings: Settings, stack: AsyncExitStack, user: str, *, create: bool
) -> str:
    """Share the embedded server while `stack` is open; return how `user` connects."""
    if not embedded.exists(settings.data_dir):
        if not create:
            raise KilolockError(
                "invalid_configuration",
                f"no database in {settings.data_dir}, and none configured; start `kld serve`,"
                " or set KL_STATE_URL, KL_DATABASE_URL or KL_DATA_DIR",
                exit_code=EXIT_USAGE,
            )
        click.echo(f"kl: making a database in {settings.data_dir}", err=True)
    server = await stack.enter_async_context(embedded.embedded(settings.data_dir))
    await install.ensure(server.conninfo(embedded.SUPERUSER))
    await embedded_guard.harden(server.conninfo(embedded.SUPERUSER))
    return server.conninfo(user)
