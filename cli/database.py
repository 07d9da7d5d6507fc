"""Reach the database itself: the one of a URL, or the embedded one."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar

import click

from cli.running import run
from pyengine import db, embedded, installed
from pyengine.errors import KilolockError
from pyengine.settings import Settings

T = TypeVar("T")


def call_locally(
    settings: Settings, command: str, work: Callable[[db.Database, db.Caller], Awaitable[T]]
) -> T:
    """Run `work` with the database itself, for what this machine must do and no server may."""
    if settings.transport == "http":
        raise KilolockError(
            "invalid_configuration",
            f"{command} needs the database, and what is named nearest is a state URL: a server runs"
            " no provider programs and keeps their configuration to itself; give --database-url or"
            " --data-dir",
        )

    async def opened() -> T:
        async with open_database(settings, sessions=8) as (database, caller):
            return await work(database, caller)

    return run(opened)


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
            conninfo = settings.database_conninfo
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
            )
        click.echo(f"kl: making a database in {settings.data_dir}", err=True)
    server = await stack.enter_async_context(embedded.embedded(settings.data_dir))
    await installed.prepare_embedded(server.conninfo(embedded.SUPERUSER))
    return server.conninfo(user)
