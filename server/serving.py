"""Run the application in this process: readiness line, signals, graceful stop."""

import asyncio
import signal
import socket
import ssl
import sys
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, TypeVar

import click
from sanic import Sanic
from sanic.server import AsyncioServer

from pyengine import db, install, installed
from pyengine.embedded import SUPERUSER, EmbeddedServer
from pyengine.errors import EXIT_FAILED, KilolockError
from pyengine.settings import Settings, is_loopback

T = TypeVar("T")

_DRAIN_SECONDS = 10
_BACKLOG = 1024


class _StoppedError(Exception):
    """A signal came before the server was ready."""


def run(settings: Settings, *, insecure_open: bool) -> None:
    """Serve until SIGINT or SIGTERM. Raises what keeps the server from starting."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(settings, insecure_open=insecure_open))


async def _serve(settings: Settings, *, insecure_open: bool) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    tls = _tls(settings)
    if settings.query_url and not settings.embedded:
        _ = settings.query_conninfo  # told before there is a database
    listener = _bind(settings, insecure_open=insecure_open)
    try:
        async with AsyncExitStack() as stack:
            stack.callback(listener.close)
            settings = await _unless(stop, _database(settings, stack))
            await _run_app(settings, listener, tls, stop)
    except _StoppedError:
        return


async def _database(settings: Settings, stack: AsyncExitStack) -> Settings:
    """Return settings with a database whose schema is ours."""
    if not settings.embedded:
        await _check_external(settings.database_conninfo)
        return settings
    server = EmbeddedServer(settings.data_dir)
    await server.start()
    stack.push_async_callback(server.stop)
    await installed.prepare_embedded(server.conninfo(SUPERUSER))
    return replace(
        settings,
        database_url=server.conninfo("kl_server"),
        query_url=server.conninfo("kl_query"),
        sources={},
    )


async def _check_external(conninfo: str) -> None:
    async with await db.connect(conninfo) as conn:
        status = await installed.status(conn)
        with db.translated():
            cursor = await conn.execute("select current_setting('is_superuser')")
            row = await cursor.fetchone()
    if row is not None and row[0] == "on":
        click.echo(
            "kilolock: warning: the database URL names a superuser; give the server a login"
            " that is a member of kl_server only",
            err=True,
        )
    if status not in ("absent", "older"):
        return
    try:
        await install.migrate(conninfo)
    except KilolockError as exc:
        if exc.code != "not_permitted_to_install":
            raise
        raise KilolockError(
            "schema_outdated",
            f"the database's schema is {status}, and this user may not install it;"
            " run `kld migrate` with a user who may, then start again",
        ) from exc


def _bind(settings: Settings, *, insecure_open: bool) -> socket.socket:
    host, port = settings.listen
    if not is_loopback(host) and settings.auth == "open" and not insecure_open:
        raise KilolockError(
            "invalid_configuration",
            f"{settings.listen_addr} can be reached from other machines, and requests need no"
            " token; choose --auth database, listen on 127.0.0.1, or say --insecure-open",
        )
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as exc:
        raise KilolockError(
            "invalid_configuration",
            f"cannot listen on {settings.listen_addr}: {exc.strerror}; choose another --listen",
            exit_code=EXIT_FAILED,  # another program's doing, as a rule
        ) from exc
    listener.setblocking(False)
    return listener


async def _run_app(
    settings: Settings, listener: socket.socket, tls: ssl.SSLContext | None, stop: asyncio.Event
) -> None:
    from server.app import create_app

    app: Sanic[Any, Any] = create_app(settings)
    server = await app.create_server(
        sock=listener,
        access_log=False,
        backlog=_BACKLOG,
        ssl=tls,
        asyncio_server_kwargs={"start_serving": False},
    )
    assert server is not None
    await server.startup()
    await server.before_start()
    try:
        await server.start_serving()
        await server.after_start()
        click.echo(f"kilolock: listening on {_url(listener, secure=settings.tls_cert is not None)}")
        sys.stdout.flush()
        await stop.wait()
        await server.before_stop()
        await _drain(server)
    finally:
        await server.after_stop()


async def _drain(server: AsyncioServer) -> None:
    """Take no more connections; let requests finish, for a while."""
    listening: Any = server.server  # declared None, set when awaited
    listening.close()
    for _ in range(_DRAIN_SECONDS * 20):
        for connection in tuple(server.connections):
            connection.close_if_idle()
        if not server.connections:
            return
        await asyncio.sleep(0.05)
    for connection in tuple(server.connections):
        connection.abort()


async def _unless(stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T:
    """Await `work`, or cancel it and raise _StoppedError when the signal comes first."""
    task = asyncio.ensure_future(work)
    waiter = asyncio.ensure_future(stop.wait())
    await asyncio.wait({task, waiter}, return_when=asyncio.FIRST_COMPLETED)
    waiter.cancel()
    if not task.done():
        task.cancel()
        await asyncio.wait({task})
    if task.cancelled():
        raise _StoppedError
    return task.result()


def _tls(settings: Settings) -> ssl.SSLContext | None:
    if settings.tls_cert is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(settings.tls_cert, settings.tls_key)
    except (OSError, ssl.SSLError) as exc:
        raise KilolockError(
            "invalid_configuration",
            f"cannot use certificate {settings.tls_cert} with key {settings.tls_key}: {exc}",
        ) from exc
    return context


def _url(listener: socket.socket, *, secure: bool) -> str:
    host, port = listener.getsockname()[:2]
    return f"http{'s' * secure}://" + (f"[{host}]:{port}" if ":" in host else f"{host}:{port}")


def _loop_factory() -> Any:  # noqa: ANN401 - uvloop is published without usable types
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
